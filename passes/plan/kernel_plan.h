#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "passes/groups/index.h"

namespace heddle::passes {

using ir::ValueId;

struct Loop {
  AtomId atom;
  Dim extent;
};

/// A C-ordered array that a kernel reads or writes. Addresses count elements.
struct KernelOperand {
  ValueId value{};  ///< the value in memory; for `partials`, the reduction
  DType dtype = DType::f32;
  bool written = false;
  bool aligned = true;    ///< starts at a multiple of 16 bytes
  bool aliased = false;   ///< shares memory with another operand, so it is not __restrict__
  bool streamed = false;  ///< too large for the caches, so stores bypass them
  int partials = -1;      ///< index of the scratch with reduction states or flags, or -1
  /// Flags of a look-back scan: which states are available, and the ticket counter.
  bool flags = false;
  std::int16_t same_as = -1;  ///< the first operand with the same memory and dtype, or -1
  /// An array in the memory of an item (Items): its offset in bytes. Addresses count from there. -1
  /// for an array of the program.
  std::int64_t item_offset = -1;
  /// Of such an array on a GPU: bytes that follow every 128 bytes, against bank conflicts.
  int item_padding = 0;
  bool in_item() const { return item_offset >= 0; }
};

/// Marks the operands at these positions (at least two) as sharing memory.
void share_memory(std::vector<KernelOperand>& operands, const std::vector<std::size_t>& positions);

/// A scalar value of the kernel's body, computed once for each iteration of the loops that it
/// depends on.
struct Instruction {
  enum class Kind : std::uint8_t {
    load,      ///< operands[operand][address]; if guarded and arguments[0] is false, 0
    constant,  ///< bits
    scalar,    ///< scalar input of the program
    index,     ///< the value of `address`
    within,    ///< begin <= address < end and (address - begin) % step == 0
    apply,     ///< op(arguments)
    cast,      ///< arguments[0] to dtype
    position,  ///< position of index arguments[0] on an axis of `end` elements, clamped to the axis
    inside,    ///< whether index arguments[0] is valid for an axis of `end` elements
    search,    ///< op over the `end` elements of operands[operand], for the value arguments[0]
    reduced,   ///< the result of reductions[reduction]
    scanned    ///< the running value of reductions[reduction], a scan, at this element
  };
  Kind kind = Kind::constant;
  DType dtype = DType::f32;
  ir::Op op{};
  std::vector<int> arguments;  ///< all values needed: the guard, then values in the address
  bool guarded = false;        ///< load: only if arguments[0] is true
  int operand = -1;
  Index address;
  Dim begin, end, step = 1;
  ir::ElementBits bits;
  std::uint32_t scalar = 0;
  int reduction = -1;
  ValueId source{};  ///< the node that it computes, for source locations and explain

  /// Set by assign_stages(): the number of reduction stages before it, and whether it depends on
  /// inner loops.
  int stage = 0;
  bool element = false;  ///< depends on inner loops

  /// Set by decide_details().
  bool held = false;     ///< a load whose values a thread keeps in registers (KernelPlan::held)
  bool divisor = false;  ///< elements are divided by it; its inverse is computed once for each row

  static Instruction of(Kind kind, DType dtype) {
    Instruction instruction;
    instruction.kind = kind;
    instruction.dtype = dtype;
    return instruction;
  }
};

struct Reduction {
  ir::Op op{};
  bool scan = false;
  DType dtype = DType::f32;    ///< dtype of the operand
  int value = -1;              ///< instruction that is reduced; -1 if states come from `partials`
  bool along_columns = false;  ///< ir::reduces_columns
  int begins = -1;             ///< scan: instruction that is true where the scan restarts, or -1
  int partials = -1;           ///< operand with states to combine, or -1
  int stage = 0;
  ValueId source{};
};

/// The instructions whose values it combines; empty if the states come from `partials`.
std::vector<int> needs_of(const Reduction& reduction);

struct Store {
  int value = -1;
  int operand = -1;
  Index address;
  /// scatter_add or scatter_max: how the value is combined atomically with the element in memory.
  std::optional<ir::Op> combine;
  int guard = -1;              ///< the instruction that enables the store, or -1
  std::vector<int> positions;  ///< instructions that the address depends on
  bool element = false;
  int stage = 0;
};

/// The instructions whose values the store needs.
std::vector<int> needs_of(const Store& store);

/// One pass of a CPU thread over the elements of a stage: the reductions that share the pass, and
/// the stores. In rows mapping, argmin and argmax of real numbers have passes of their own, which
/// are not listed here.
struct HostPass {
  int stage = 0;
  std::vector<int> reductions, stores;
  /// Rows: number of independent states of each reduction, which are combined as a vector; 0:
  /// determined at run time; 1 if the rows are combined in column order.
  int states = 1;
  int state_bytes = 0;     ///< of a state that combines in row order; 0: there is none
  bool in_blocks = false;  ///< the row may consist of several blocks of that order
  int rows_at_once = 1;    ///< columns: rows between a load and a store of the states
  /// Loads and stores of float16 that are converted in strips.
  std::vector<int> strip_loads, strip_stores;
};

/// How a GPU thread sums: after every `steps` additions, its partial sum is added to a total.
struct Folding {
  int steps = 0;             ///< 0: never
  bool compensated = false;  ///< the rounding errors of the total are summed too
};

/// How loops are mapped to threads.
enum class Mapping : std::uint8_t {
  elements,  ///< a thread takes `vector` neighbours along the last loop, `unroll` times; or `held`
             ///< times along `held_loop`, sharing loads
  tiles,     ///< square tiles of the loads `tiled` are staged in shared memory, or on the host in a
             ///< local array
  rows,      ///< `threads_per_row` threads run the inner loops of one outer iteration
  columns,   ///< neighbouring threads take neighbouring outer iterations; threads in a column of
             ///< the block share the inner loops
  scan_rows,     ///< as rows; a thread holds `held` vectors of the row, or of a tile of it
  scan_columns,  ///< as columns; a thread holds `held` inner iterations of a tile
  items          ///< `threads_per_row` threads run the phases of one item (Items)
};

/// Constants that a routine reads: real numbers, or the parts of complex numbers in turn.
struct ItemTable {
  DType dtype = DType::f32;
  std::shared_ptr<const std::vector<double>> numbers;
};

/// A function of the device library that works on the memory of one item.
struct ItemRoutine {
  std::string section;      ///< of the library
  std::string function;     ///< with template arguments: "fft_item<float, 64, 8, false, 8, 8>"
  std::vector<int> arrays;  ///< operands in the item's memory, in the order of its parameters
  std::vector<ItemTable> tables;
  /// The number of the item, modulo this, is its last parameter; 0: there is no such parameter.
  std::int64_t item_modulus = 0;
};

/// A step of the work on one item: a routine, or stores of elements. All threads finish a phase
/// before the next begins.
struct ItemPhase {
  std::optional<ItemRoutine> routine;
  std::vector<Loop> batch;  ///< these loops give the item, in C order of its number
  std::vector<Loop> loops;  ///< over the elements of an item; constant extents
  std::vector<int> stores;  ///< indices into KernelPlan::stores
  /// Neighbouring items, rather than neighbouring elements of an item, are contiguous in memory.
  bool across = false;
};

/// The items mapping: calls on the items of a batch, each in fast memory, with the elementwise work
/// before and after them.
struct Items {
  Dim count;
  int per_block = 1;       ///< items that a block, or a step of a CPU thread, holds at once
  std::int64_t bytes = 0;  ///< memory of one item
  std::vector<ItemPhase> phases;
};

/// A kernel of a sort step: a kernel of the device library, with these types and sizes.
struct SortKernel {
  enum class Kind : std::uint8_t {
    tiles,  ///< sorts the elements that a block holds
    merge,  ///< merges pairs of neighbouring runs
    count,  ///< counts each digit in each row
    pass    ///< moves elements to their positions, ordered by one digit
  };
  Kind kind = Kind::tiles;
  DType dtype = DType::f32;
  bool indices = false;  ///< also moves the index of each element
  int index_bits = 64;   ///< of these indices
  int items = 8;         ///< elements for each thread
  int rounds = 1;        ///< a block counts this many times `items`, in rounds
  int word_bits = 32;    ///< of the digit counts
};

/// One kernel, completely decided; the printers only print it. Outer loops are distributed over
/// blocks and threads, inner loops (of reductions) run inside. A stage is one pass over the inner
/// loops.
struct KernelPlan {
  std::string family;
  std::string name;  ///< "hd_subtract_exp_sum_f32"; the printer appends the hash
  Mapping mapping = Mapping::elements;
  std::vector<Loop> outer, inner;
  std::vector<KernelOperand> operands;
  std::vector<Instruction> body;  ///< in topological order
  std::vector<Reduction> reductions;
  std::vector<Store> stores;
  int stages = 1;

  int vector = 1;           ///< elements in one memory access
  int unroll = 1;           ///< elements mapping: accesses by each thread
  int pass_unroll = 1;      ///< GPU rows and columns without held loads: steps loaded at once
  int threads = 256;        ///< in a block
  int least_blocks = 1;     ///< blocks that must fit the registers of a multiprocessor
  int threads_per_row = 1;  ///< rows mapping; columns mapping: threads on neighbouring columns
  int split = 1;            ///< parts of the inner loops, one for each block; their results are
                            ///< states
  /// If nonzero, the host computes the number of parts at run time, at most `split`: the least
  /// elements of a part, a power of two.
  std::int64_t least_part = 0;
  /// In the kernel that combines parts: the extent that was split.
  std::optional<Dim> parts_of;
  /// Parts of the inner loops, one for each block of a cluster. The blocks exchange states through
  /// shared memory.
  int cluster = 1;
  /// Rows, columns: vectors of every load that a thread holds; 0: each stage reads again. Scans:
  /// vectors or inner iterations for each thread. Elements: iterations of `held_loop`; 0: none.
  std::int64_t held = 0;
  int held_loop = -1;      ///< elements mapping: an outer loop
  Folding folding;         ///< rows and columns: folding of rounded sums
  bool look_back = false;  ///< scans: a row is split into tiles, one for each block; a tile waits
                           ///< for earlier tiles
  int index_bits = 64;
  std::vector<int> tiled;  ///< tiles mapping: the loads that are staged
  int tile_loop = -1;      ///< tiles mapping: the outer loop along which these loads are contiguous
  int tile_edge = 32;      ///< in elements; tiles are read and written in vectors

  std::vector<HostPass> host_passes;  ///< on CPUs, for elements, rows and columns mappings

  std::optional<Items> items;  ///< items mapping

  /// A sort kernel. Of the fields above, only family, name and threads apply to it.
  std::optional<SortKernel> sort;

  /// The space of all addresses.
  const IndexSpace* space = nullptr;
};

/// The whole plan in a stable text form, for dumps and tests.
std::string to_string(const KernelPlan& plan);

}  // namespace heddle::passes
