#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/target.h"

namespace heddle::passes {

using ir::Dim;

/// Memory that a step reads or writes.
struct BufferRef {
  enum class Kind : std::uint8_t { input, output, temporary };
  Kind kind = Kind::input;
  std::uint32_t index = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

/// One kernel parameter. On CUDA it is passed as its own type; on the host pointers go to
/// `buffers` and all others, in order, to 8-byte `scalars`, of which complex128 takes two.
struct Parameter {
  enum class Kind : std::uint8_t {
    buffer,  ///< a pointer
    size,    ///< `value`, evaluated at launch, as int64
    scalar   ///< scalar input `scalar` of the program, in `dtype`
  };
  Kind kind = Kind::buffer;
  BufferRef buffer;
  bool written = false;      ///< buffer: the kernel stores to it
  std::int64_t cleared = 0;  ///< buffer: so many bytes for each block of the launch are 0 before it
  Dim value;
  std::uint32_t scalar = 0;  ///< input index
  DType dtype = DType::f32;
  int words() const { return kind == Kind::scalar && size_of(dtype) > 8 ? 2 : 1; }
};

/// ceil(elements / per_block), at least 0; at most `most`, of which 0 is no limit.
struct GridExtent {
  Dim elements = 1;
  std::int64_t per_block = 1;
  std::int64_t most = 0;
};

/// A launch of kernel `kernel` of the program. The product of the grid's extents is the number of
/// blocks, all along x; on the host it is n of the range [0, n) that is split among threads in
/// equal pieces of at least `host_grain`.
struct KernelStep {
  std::uint32_t kernel = 0;  ///< index into Program::kernel_names
  std::vector<Parameter> parameters;
  std::vector<GridExtent> grid;
  std::uint32_t block[2] = {1, 1};
  std::uint32_t shared_bytes = 0;
  std::uint32_t cluster = 1;
  std::int64_t host_grain = 1;
};

/// A number that a library multiplies by: the constant times, where it is named, scalar input
/// `scalar` of the program.
struct Factor {
  double constant = 1;
  std::optional<std::uint32_t> scalar;
  friend bool operator==(const Factor&, const Factor&) = default;
};

/// What happens to each element of a product before it is stored: max(x, 0), or the form of gelu
/// with tanh.
enum class Activation : std::uint8_t { none, relu, gelu };

/// What runs where the library refuses an epilogue: the product by itself, in `dtype`, into memory
/// of `bytes` that only lasts as long, and a kernel that reads it from parameter `product`.
struct StandBy {
  KernelStep kernel;
  std::uint32_t product = 0;
  DType dtype = DType::f32;
  Dim bytes;
};

/// out[b] = activation(alpha * a[b] x b[b] + beta * residual[b] + bias), row-major, any operand
/// transposed; batch strides in elements, 0 repeats.
struct MatmulStep {
  DType dtype = DType::f32;          ///< of out, residual and bias
  DType operand_dtype = DType::f32;  ///< of a and b: dtype, or less than f32 where that is f32
  Precision precision = Precision::ieee;
  Dim rows, columns, depth, batch = 1;
  BufferRef a, b, out;
  Dim a_leading, b_leading;  ///< elements between rows as stored
  bool a_transposed = false, b_transposed = false;
  Dim a_batch_stride, b_batch_stride, out_batch_stride;
  Factor alpha, beta;
  std::optional<BufferRef> residual;  ///< laid out as out, which may be the same memory
  std::optional<BufferRef> bias;      ///< one element a column
  Activation activation = Activation::none;
  std::optional<StandBy> stand_by;  ///< of a product with an epilogue
};

/// How a GPU sorts.
struct SortKernels {
  enum class Method : std::uint8_t {
    merge,  ///< tiles, which hold several short rows or part of one; and where rows may be longer,
            ///< merge, of neighbouring runs of sorted elements, twice as long a launch
    radix   ///< all digits, of 8 bits, are counted, and a pass for each moves the elements
  };
  struct Kernel {
    std::uint32_t kernel = 0;  ///< index into Program::kernel_names
    std::uint32_t shared_bytes = 0;
    std::uint32_t threads = 0;  ///< of a block
    std::int64_t tile = 0;      ///< elements that a block takes
    friend bool operator==(const Kernel&, const Kernel&) = default;
  };
  Method method = Method::merge;
  std::vector<Kernel> kernels;
  friend bool operator==(const SortKernels&, const SortKernels&) = default;
};

/// Sorts each of `rows` rows of `length` elements, as ir::Op::sort and argsort say.
struct SortStep {
  DType dtype = DType::f32;  ///< of the keys
  bool indices = false;      ///< `out` takes where each element comes from, in i64, else the keys
  Dim rows, length;
  BufferRef keys, out;
  std::vector<BufferRef> scratch;      ///< as passes::scratch_bytes says
  std::optional<SortKernels> kernels;  ///< on the host the runtime sorts
};

/// Fills a buffer with bytes of 0, for kernels that add to what is there.
struct ZeroStep {
  BufferRef buffer;
  Dim bytes;
};

struct Step {
  enum class Kind : std::uint8_t { kernel, matmul, sort, zero };
  Kind kind = Kind::kernel;
  KernelStep kernel;
  MatmulStep matmul;
  SortStep sort;
  ZeroStep zero;
  Dim moved;  ///< bytes of global memory that it reads and writes (passes/traffic.h)
  /// The nodes that it computes, ascending, as their places in ir::shared_order() of the graph.
  std::vector<std::uint32_t> origins;
};

/// What a step does with a buffer that it names.
struct BufferUse {
  BufferRef buffer;
  bool written = false;
};
std::vector<BufferUse> uses_of(const Step& step);

/// A temporary lives from its first step to its last, both included. All share one arena.
struct Temporary {
  Dim bytes;
  std::uint32_t first_step = 0, last_step = 0;
};

struct ProgramInput {
  ir::Type type;
  bool scalar = false;   ///< passed by value
  bool donated = false;  ///< the program may write its memory
  int alignment = 16;    ///< bytes that kernels rely on: 16, or the element size
};

struct ProgramOutput {
  ir::Type type;
  /// The output is that input's memory: donated and updated in place, or passed through unchanged.
  std::optional<std::uint32_t> input;
  /// The output is the same array as that earlier one.
  std::optional<std::uint32_t> output;
};

/// Ordered steps over inputs, outputs and temporaries: all that the runtime needs. Serializes with
/// to_json / from_json, and names its kernels' modules, not their text.
struct Program {
  std::string name;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::vector<Temporary> temporaries;
  std::vector<ir::SymbolFact> facts;
  std::vector<ir::Requirement> requirements;  ///< of the graph as it was before the passes
  std::vector<std::string> kernel_names;
  std::vector<Step> steps;
};

/// Where each temporary starts in the arena, for concrete sizes.
struct Arena {
  std::vector<std::int64_t> offsets;  ///< bytes, multiples of 256
  std::int64_t bytes = 0;
};
/// Places temporaries so that two that live at the same step do not overlap. `sizes[i]` is
/// temporary i's bytes. Deterministic: the smallest arena of a few orders, each value at the lowest
/// offset that fits.
Arena plan_arena(const std::vector<Temporary>& temporaries, const std::vector<std::int64_t>& sizes);

std::string to_json(const Program& program);
/// Throws ParseError.
Program program_from_json(std::string_view text);

}  // namespace heddle::passes
