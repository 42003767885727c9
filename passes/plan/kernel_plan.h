#pragma once

#include <cstdint>
#include <functional>
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
  /// For an array in the memory of an item (Items): its offset there in bytes, from which addresses
  /// count. -1 for an array of the program.
  std::int64_t item_offset = -1;
  /// For an array in the memory of an item, on a GPU: bytes of padding after every 128 bytes, which
  /// avoid bank conflicts.
  int item_padding = 0;
  bool in_item() const { return item_offset >= 0; }
};

/// Marks the operands at these positions (at least two) as sharing memory.
void share_memory(std::vector<KernelOperand>& operands, const std::vector<std::size_t>& positions);

/// Sums of functions of x - r, where x is the value that is reduced, and r is found in the same
/// pass.
enum class SumAbout : std::uint8_t {
  nothing,
  greatest  ///< of exp(x - r); r follows the greatest x (codegen/device/exp_sum.h)
};

/// A number of the state of such a sum: the sum, or r.
enum class StatePart : std::uint8_t { result, reference };

/// A scalar value of the kernel's body, computed once for each iteration of the loops that it
/// depends on.
struct Instruction {
  enum class Kind : std::uint8_t {
    load,      ///< operands[operand][address]; 0 if it is guarded and arguments[0] is false
    constant,  ///< bits
    scalar,    ///< scalar input of the program
    index,     ///< the value of `address`
    within,    ///< begin <= address < end and (address - begin) % step == 0
    apply,     ///< op(arguments)
    cast,      ///< arguments[0] to dtype
    position,  ///< position of index arguments[0] on an axis of `end` elements, clamped to the axis
    bound,     ///< arguments[0], a segment's begin or end, clipped to [0, end]
    inside,    ///< whether index arguments[0] is valid for an axis of `end` elements
    search,    ///< op over the `end` elements of operands[operand], for the value arguments[0]
    reduced,   ///< the result of reductions[reduction]
    scanned,   ///< the running value of reductions[reduction], a scan, at this element
    array,     ///< all of operands[operand], as an array of `extents` for a user's function, which
               ///< writes to it if the operand is written
    user,      ///< the user's `function` of the arguments
    loop,      ///< runs element_loops[loop]; arguments: what it uses from outside. No value
    looped,    ///< carry `carry` after the last step of the loop that arguments[0] runs
    carried,   ///< in a loop: carry `carry` before this step
    step,      ///< in a loop: the number of this step
    put,       ///< in a loop: stores arguments[0] in operands[operand][address]. No value
    score      ///< in an attention kernel: the scaled product of a query and a key
  };
  Kind kind = Kind::constant;
  DType dtype = DType::f32;
  ir::Op op{};
  std::vector<int> arguments;  ///< instructions that it needs; load: the guard, then those in the
                               ///< address
  bool guarded = false;        ///< load: only if arguments[0] is true
  int operand = -1;
  Index address;
  Dim begin, end, step = 1;
  ir::ElementBits bits;
  std::uint32_t scalar = 0;
  int reduction = -1;
  StatePart part = StatePart::result;  ///< reduced: which number of the state
  int loop = -1;                       ///< index into KernelPlan::element_loops
  int carry = -1;                      ///< of this loop
  int step_of = -1;                    ///< the element loop whose steps compute it, or -1
  ir::CallRef function;                ///< the user.map call
  ir::Shape extents;
  ValueId source{};  ///< the node that it computes, for source locations and explain

  /// Set by assign_stages(): the number of reduction stages before it, and whether it depends on
  /// inner loops.
  int stage = 0;
  bool element = false;  ///< depends on inner loops

  /// Set by decide_details().
  bool held = false;  ///< a value that a thread keeps in registers (KernelPlan::held)
  /// A load whose elements are those of another load's vector, `shift` later, as far as these are
  /// in the vector: the instruction of that load, or -1.
  int shifted_from = -1, shift = 0;
  /// The load whose vector has the other elements: it follows that vector, or precedes it if the
  /// shift is negative. -1 if they are loaded one at a time.
  int shifted_rest = -1;
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
  SumAbout about = SumAbout::nothing;
  bool compensated = false;  ///< a sum of many exponentials, with its rounding errors
  int begins = -1;           ///< scan: instruction that is true where the scan restarts, or -1
  /// Instructions with the begin and the end of the row's segment, over which the inner loop runs;
  /// -1 if it runs over all of its extent. The reductions of a kernel have the same segments.
  int first = -1, last = -1;
  int partials = -1;  ///< operand with states to combine, or -1
  int stage = 0;
  ValueId source{};
};

/// A loop over steps that each element runs on its own, inside the kernel (control.elements).
struct ElementLoop {
  int instruction = -1;        ///< the instruction of kind `loop`
  std::vector<int> initial;    ///< the carries before the loop
  std::vector<int> steps;      ///< the instructions of a step, in order
  int condition = -1;          ///< whether to take the step; -1 if there is a length
  std::size_t decided = 0;     ///< how many of `steps` come before the condition is known
  std::vector<int> next;       ///< the carries after the step, then the results to stack
  std::optional<Dim> length;   ///< the number of steps
  bool reverse = false;        ///< steps are counted down to 0
  std::optional<AtomId> atom;  ///< stands for the step in the addresses of loads and puts
};

/// The loop with other numbers of its instructions.
ElementLoop renumbered(ElementLoop loop, const std::function<int(int)>& number);

/// The instructions whose values the reduction combines; empty if its states come from `partials`.
std::vector<int> needs_of(const Reduction& reduction);

struct Store {
  int value = -1;
  int operand = -1;
  Index address;
  /// scatter_add or scatter_max: how the value is combined atomically with the element in memory.
  std::optional<ir::Op> combine;
  /// The value's instruction, a user's function or a loop with puts, writes to the operand itself.
  bool by_value = false;
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
  /// Rows: the independent states of each reduction. Neighbouring elements go to different states,
  /// so that the compiler can use vectors. 0: the number follows from the row's length at run time.
  /// 1 for reductions in CombineOrder::columns.
  int states = 1;
  int state_bytes = 0;     ///< size of a state in CombineOrder::rows; 0: the pass has no such state
  bool in_blocks = false;  ///< the row may be longer than one block of CombineOrder::rows
  int rows_at_once = 1;    ///< columns: rows that are combined between a load and a store of states
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
  tiles,     ///< the loads `tiled` are read in square tiles, which are kept in shared memory, or on
             ///< the host in a local array
  rows,      ///< `threads_per_row` threads run the inner loops of one outer iteration
  columns,   ///< neighbouring threads take neighbouring outer iterations; threads in a column of
             ///< the block share the inner loops
  scan_rows,     ///< as rows; a thread holds `held` vectors of the row, or of a tile of it
  scan_columns,  ///< as columns; a thread holds `held` inner iterations of a tile
  items          ///< `threads_per_row` threads run the phases of one item (Items)
};

/// Constants that a routine reads. A complex number is two entries: real part, imaginary part.
struct ItemTable {
  DType dtype = DType::f32;
  std::shared_ptr<const std::vector<double>> numbers;
};

/// Elements of an array that a function passes, so many neighbours at once.
struct PassedElements {
  std::int64_t count = 0;
  int at_once = 1;
};

/// A function of the device library that works on the memory of one item.
struct ItemRoutine {
  std::string section;      ///< the section of the device library that defines it
  std::string function;     ///< with template arguments: "fft_item<float, 64, 8, false, 8, 8>"
  std::vector<int> arrays;  ///< operands in the item's memory, in the order of its parameters
  std::vector<ItemTable> tables;
  /// If nonzero, the next parameter is the item's number modulo this.
  std::int64_t item_modulus = 0;
  /// If not empty, the last parameters are where the elements of each operand come from, and where
  /// those of the last result go to: their arrays, or functions (ItemPhase::direct).
  std::vector<PassedElements> takes;
  PassedElements makes;
  /// If more than 1: so many blocks share an item. Each takes all elements, and makes some of the
  /// results, from its number among them, which is the next parameter. Both come from functions.
  int parts = 1;
  /// On a GPU, the thread that takes an element need not be one of the item's threads in later
  /// stages: the first function may come with threads of its own (section item_source).
  bool deals_anew = false;
};

/// A step of the work on one item: a routine, or stores of elements. All threads finish a phase
/// before the next begins.
struct ItemPhase {
  std::optional<ItemRoutine> routine;
  std::vector<Loop> batch;  ///< loops over the items; the item's number counts them in C order
  std::vector<Loop> loops;  ///< loops over the elements of an item; constant extents
  std::vector<int> stores;  ///< indices into KernelPlan::stores
  /// Whether neighbouring items are contiguous in memory, rather than neighbouring elements of an
  /// item.
  bool across = false;
  /// On a GPU: a function that the routine after it calls for each element that it takes, or the
  /// routine before it for each element of its result, which are then never in the item's memory.
  bool direct = false;
};

/// The items mapping: calls on each item of a batch, together with the elementwise work before and
/// after them. An item stays in fast memory (shared memory, or the stack of a CPU thread).
struct Items {
  Dim count;
  int per_block = 1;     ///< items that a block, or a step of a CPU thread, holds at once
  bool on_stack = true;  ///< on the CPU: the items' memory; else it belongs to the thread
  /// On a GPU: neighbouring threads work on neighbouring items, rather than on one item.
  bool interleaved = false;
  std::int64_t bytes = 0;  ///< memory of one item
  int parts = 1;           ///< ItemRoutine::parts
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
  int rounds = 1;        ///< count: times that each thread of a block takes `items` elements
  int word_bits = 32;    ///< of the digit counts
};

/// Rows of an array that are contiguous in memory, for each item of a batch.
struct BatchOfRows {
  int operand = -1;
  Index start;  ///< the first element of row 0; depends on the batch's loops
  Dim stride;   ///< elements from one row to the next
};

/// A kernel of ir::calls::attention(). Its outer loops run over the batch and the queries, its
/// inner loop over the keys.
struct AttentionKernel {
  DType dtype = DType::f16;
  Dim rows, columns;                  ///< numbers of queries and of keys
  std::int64_t depth = 0, width = 0;  ///< columns of queries and keys, and of values
  double scale = 1;
  int stages = 2;  ///< tiles of keys and of values that a block holds
  BatchOfRows queries, keys, values, result;
  int map = -1;  ///< the instruction that gives the score of the softmax; -1: the scaled product
  /// The score is minus infinity before key `begin` and from key `end` on. Both depend on the query
  /// only, and do not decrease from one query to the next. If absent: there is no such key.
  std::optional<Index> begin, end;
  bool only_bounds = false;  ///< for the keys between these, the score is the scaled product
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
  std::vector<ElementLoop> element_loops;
  std::vector<Store> stores;
  int stages = 1;

  int vector = 1;  ///< elements in one memory access
  /// Elements mapping: if nonzero, vectors are aligned in the stored arrays, wherever a row of this
  /// many last loops begins (uneven_rows.h). So they may hold elements of two rows.
  int row_loops = 0;
  /// Elements mapping: a vector's truth values are computed four at a time, as the bytes of a word.
  bool packs_truths = false;
  int unroll = 1;           ///< elements mapping: accesses by each thread
  int pass_unroll = 1;      ///< GPU rows and columns without held loads: steps loaded at once
  int threads = 256;        ///< in a block
  int least_blocks = 1;     ///< blocks that must fit a multiprocessor's registers at the same time
  int threads_per_row = 1;  ///< rows mapping; columns mapping: threads on neighbouring columns
  /// Rows mapping of segments: a row of more elements is left to all threads of its block, after
  /// the other rows. 0: none is.
  std::int64_t long_row = 0;
  /// Rows mapping: the load to whose vectors in memory a thread's vectors are aligned, wherever a
  /// row begins (skewed_rows.h); -1 if they are aligned to the begin of the row.
  int skewed = -1;
  int split = 1;  ///< parts of the inner loops, each run by one block, which stores its
                  ///< states
  /// The least number of elements in a part, a power of two. If nonzero, the host computes the
  /// number of parts at run time, and `split` is its maximum.
  std::int64_t least_part = 0;
  /// For the kernel that combines the parts of another one: the extent that was split.
  std::optional<Dim> parts_of;
  /// Parts of the inner loops, one for each block of a cluster. The blocks exchange states through
  /// shared memory.
  int cluster = 1;
  /// What a thread keeps in registers. Rows, columns: vectors of every held load; 0: each stage
  /// reads memory again. Scans: vectors or inner iterations. Elements: iterations of `held_loop`;
  /// 0: none.
  std::int64_t held = 0;
  int held_loop = -1;      ///< elements mapping: an outer loop
  Folding folding;         ///< rows and columns: folding of rounded sums
  bool look_back = false;  ///< scans: a row is split into tiles, one for each block, and each block
                           ///< waits for the states of the tiles before its own
  int index_bits = 64;
  /// If nonzero, on a GPU: the kernel takes a table of as many rows, each with the parameters of a
  /// launch, and runs these launches at once.
  int table_rows = 0;
  std::vector<int> tiled;  ///< tiles mapping: the loads that are staged
  int tile_loop = -1;      ///< tiles mapping: the outer loop along which these loads are contiguous
  /// Tiles mapping: elements of a tile along tile_loop and along the last loop. Tiles are read and
  /// written in vectors.
  int tile_across = 32, tile_last = 32;

  std::vector<HostPass> host_passes;  ///< on CPUs, for elements, rows and columns mappings

  std::optional<Items> items;  ///< items mapping

  /// A sort kernel. Of the fields above, only family, name and threads apply to it.
  std::optional<SortKernel> sort;

  /// A kernel that decides whether a conditional node of a CUDA graph runs, by a number of this
  /// dtype (runtime::Decision). Of the fields above, only family, name and threads apply to it.
  std::optional<DType> decides;

  /// An attention kernel. Of the fields above, only family, name, threads, index_bits, loops,
  /// operands and body apply to it.
  std::optional<AttentionKernel> attention;

  /// Whether it is a plan of loops, which the fields above describe.
  bool has_loops() const { return !sort && !decides && !attention; }

  /// The space of all addresses.
  const IndexSpace* space = nullptr;
};

/// The whole plan in a stable text form, for dumps and tests.
std::string to_string(const KernelPlan& plan);

}  // namespace heddle::passes
