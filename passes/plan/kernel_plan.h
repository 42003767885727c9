#pragma once

#include <cstdint>
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

/// An array that a kernel reads or writes, C-ordered, addressed in elements.
struct KernelOperand {
  ValueId value{};  ///< whose memory it is; the reduction itself for `partials`
  DType dtype = DType::f32;
  bool written = false;
  bool aligned = true;    ///< starts at a multiple of 16 bytes
  bool aliased = false;   ///< shares memory with another operand, so it is not __restrict__
  bool streamed = false;  ///< written past the caches, which it would not fit
  int partials = -1;   ///< index of the scratch that it is, states of a reduction or flags, or -1
  bool flags = false;  ///< says which states of a look-back are there, and counts its tickets
  std::int16_t same_as = -1;  ///< the first of the operands that share its memory and dtype, or -1
};

/// Marks the operands at these positions, at least two, as lying in the same memory.
void share_memory(std::vector<KernelOperand>& operands, const std::vector<std::size_t>& positions);

/// A scalar value of the kernel's body, computed once per iteration of the loops that it depends
/// on.
struct Instruction {
  enum class Kind : std::uint8_t {
    load,      ///< operands[operand][address], or 0 where it is guarded and `arguments[0]` is false
    constant,  ///< bits
    scalar,    ///< scalar input of the program
    index,     ///< address, as a number
    within,    ///< begin <= address < end and (address - begin) % step == 0
    apply,     ///< op(arguments)
    cast,      ///< arguments[0] to dtype
    position,  ///< where index arguments[0] lies on an axis of `end` elements, the nearest if
               ///< outside
    inside,    ///< whether index arguments[0] names one of `end` elements
    search,    ///< op(operands[operand], of `end` elements, arguments[0])
    reduced,   ///< the result of reductions[reduction]
    scanned    ///< what reductions[reduction], a scan, has come to at this element
  };
  Kind kind = Kind::constant;
  DType dtype = DType::f32;
  ir::Op op{};
  std::vector<int> arguments;  ///< all that it needs: the guard, then what its address is made of
  bool guarded = false;        ///< load: waits for arguments[0]
  int operand = -1;
  Index address;
  Dim begin, end, step = 1;
  ir::ElementBits bits;
  std::uint32_t scalar = 0;
  int reduction = -1;
  ValueId source{};  ///< the node that it computes, for line numbers and explain

  /// Set by analyze(): the reductions that must be finished before, and where it belongs.
  int stage = 0;
  bool element = false;  ///< depends on inner loops

  /// Set by decide_details().
  bool held = false;     ///< a load of which a thread keeps KernelPlan::held vectors
  bool divisor = false;  ///< quotients of elements are made with its inverse, computed once a row

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
  DType dtype = DType::f32;    ///< of the operand
  int value = -1;              ///< instruction, unless the states come from `partials`
  bool along_columns = false;  ///< ir::reduces_columns
  int begins = -1;             ///< of a scan, the instruction that says where it begins anew, or -1
  int partials = -1;           ///< operand that holds states, or -1
  int stage = 0;
  ValueId source{};
};

/// The instructions that it combines: none where the states come from `partials`.
std::vector<int> needs_of(const Reduction& reduction);

struct Store {
  int value = -1;
  int operand = -1;
  Index address;
  /// scatter_add or scatter_max: how the value is combined, atomically, with what is there.
  std::optional<ir::Op> combine;
  int guard = -1;              ///< the instruction that says whether to, or -1
  std::vector<int> positions;  ///< instructions that the address is made of
  bool element = false;
  int stage = 0;
};

/// The instructions that a store needs.
std::vector<int> needs_of(const Store& store);

/// One pass of a CPU's thread over the elements of a stage: the reductions that share it, and what
/// is stored of the elements. In rows a search for the place of a real extreme is a pass of its
/// own, not among these.
struct HostPass {
  int stage = 0;
  std::vector<int> reductions, stores;
  /// Rows: states of each reduction side by side, so that a vector of them is combined at once; 0:
  /// known at run time. 1 where rows are combined in the order of columns.
  int states = 1;
  int state_bytes = 0;     ///< of what combines in the order of rows; 0: nothing does
  bool in_blocks = false;  ///< the row may have several blocks of that order
  int rows_at_once = 1;    ///< columns: so that states are loaded and stored less often
  /// Loads and stores of float16 that are converted strip by strip.
  std::vector<int> strip_loads, strip_stores;
};

/// How a GPU thread's walk sums: every so many steps what it has come to is added to a total.
struct Folding {
  int steps = 0;             ///< 0: never
  bool compensated = false;  ///< what the total's rounding lost is added as well
};

/// How loops are laid over threads.
enum class Mapping : std::uint8_t {
  elements,  ///< a thread takes `vector` neighbours along the last loop, `unroll` times, or `held`
             ///< times along `held_loop`, whose loads it shares
  tiles,     ///< square tiles of `tiled` loads are staged in shared memory or, on the host, a local
             ///< array
  rows,      ///< `threads_per_row` threads walk the inner loops of one outer iteration
  columns,   ///< neighbouring threads take neighbouring outer iterations, and share the inner loops
  scan_rows,    ///< as rows, each thread with `held` vectors of the row or of a tile of it
  scan_columns  ///< as columns, each thread with `held` inner iterations of a tile
};

/// A kernel of a sort step: the device library's own, with its types and sizes put in.
struct SortKernel {
  enum class Kind : std::uint8_t {
    tiles,  ///< sorts what a block holds
    merge,  ///< merges pairs of neighbouring runs
    count,  ///< how often each digit is in each row
    pass    ///< moves elements to where they belong by one digit
  };
  Kind kind = Kind::tiles;
  DType dtype = DType::f32;
  bool indices = false;  ///< carries along where each element comes from
  int index_bits = 64;   ///< in which
  int items = 8;         ///< elements a thread
  int rounds = 1;        ///< in which a block counts as many
  int word_bits = 32;    ///< of counts of digits
};

/// One kernel, decided down to the last detail: the printers only spell it. The outer loops run
/// over blocks and threads, the inner ones (of reductions) inside; a stage is one walk over the
/// inner loops.
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

  int vector = 1;           ///< elements an access
  int unroll = 1;           ///< elements mapping: accesses a thread
  int walk_unroll = 1;      ///< rows and columns of GPUs, nothing held: steps loaded at once
  int threads = 256;        ///< a block
  int least_blocks = 1;     ///< that a multiprocessor is to have registers for
  int threads_per_row = 1;  ///< rows mapping; columns mapping: threads across
  int split = 1;            ///< parts of the inner loops, each to its own block; results are states
  std::int64_t least_part = 0;  ///< where the host is to find out the number of parts, at most
                                ///< `split`: elements of the shortest, a power of two
  std::optional<Dim> parts_of;  ///< what such parts were cut from, in the kernel that combines them
  int cluster = 1;              ///< parts of the inner loops, each to a block of a cluster, which
                                ///< exchange states through shared memory
  std::int64_t held = 0;  ///< rows and columns: vectors of every load that a thread holds, 0: read
                          ///< again a stage; scans: vectors or inner iterations a thread;
                          ///< elements: iterations of `held_loop`, 0: there is none
  int held_loop = -1;     ///< elements mapping: an outer loop
  Folding folding;        ///< rows and columns: of their rounded sums
  bool look_back =
      false;  ///< scans: a row is cut in tiles, a block each, that wait for the earlier
  int index_bits = 64;
  std::vector<int> tiled;  ///< tiles mapping: load instructions that are staged
  int tile_loop = -1;      ///< tiles mapping: the outer loop along which they are contiguous
  int tile_edge = 32;      ///< of a tile, in elements; tiles are read and written by vectors

  std::vector<HostPass> host_passes;  ///< elements, rows and columns mappings of CPUs

  /// Nothing of the above but family, name and threads says what such a kernel does.
  std::optional<SortKernel> sort;

  /// Shared by all functions that look at addresses.
  const IndexSpace* space = nullptr;
};

/// Every part in a stable text form, for dumps and tests.
std::string to_string(const KernelPlan& plan);

}  // namespace heddle::passes
