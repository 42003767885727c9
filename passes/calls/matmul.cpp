#include "passes/calls/matmul.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ir/types/capabilities.h"
#include "passes/calls/bytes.h"
#include "passes/calls/gram.h"
#include "passes/calls/matrix_item.h"
#include "passes/calls/transposed_operand.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Dim;
using ir::Graph;
using ir::Op;
using ir::Shape;
using ir::ValueId;

Shape batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

// BLAS uses one stride for the whole batch, so an operand must have all batch axes or none.
ValueId with_whole_batch(Graph& graph, ValueId operand, const Shape& batch, ir::Location location) {
  const Shape shape = graph.shape(operand);
  if (is_single(batch_of(shape)) || batch_of(shape) == batch) return operand;
  ir::Attributes attributes;
  attributes.shape = batch;
  attributes.shape.insert(attributes.shape.end(), shape.end() - 2, shape.end());
  return graph.add(Op::broadcast_to, {operand}, attributes, location);
}

ValueId cast(Graph& graph, ValueId value, DType dtype, ir::Location location) {
  if (graph.dtype(value) == dtype) return value;
  ir::Attributes attributes;
  attributes.dtype = dtype;
  return graph.add(Op::cast, {value}, attributes, location);
}

ValueId with_axis(Graph& graph, ValueId value, std::ptrdiff_t from_end, ir::Location location) {
  ir::Attributes attributes;
  attributes.shape = graph.shape(value);
  attributes.shape.insert(attributes.shape.end() - from_end, Dim(1));
  return graph.add(Op::reshape, {value}, attributes, location);
}

// out[m, n] = sum over k of a[m, k, 1] * b[1, k, n]. Half-precision operands are multiplied and
// summed in float32.
ValueId multiply_and_sum(Graph& graph, ValueId a, ValueId b, ir::Location location) {
  const DType dtype = graph.dtype(a);
  const DType computed = is_half(dtype) ? DType::f32 : dtype;
  const ValueId left = with_axis(graph, cast(graph, a, computed, location), 0, location);
  const ValueId right = with_axis(graph, cast(graph, b, computed, location), 2, location);
  const ValueId product = graph.add(Op::multiply, {left, right}, {}, location);
  ir::Attributes attributes;
  attributes.axes = {static_cast<std::int64_t>(graph.shape(product).size()) - 2};
  const Op combine = is_boolean(dtype) ? Op::any : Op::sum;
  return cast(graph, graph.add(combine, {product}, attributes, location), dtype, location);
}

/// Whether a matrix is far smaller than the tiles of a library.
bool is_tiny(const Graph& graph, ValueId matrix) {
  constexpr std::int64_t most = 8;
  const Shape& shape = graph.shape(matrix);
  return shape.size() == 2 && ir::is_constant(shape) && shape[0].constant() <= most &&
         shape[1].constant() <= most;
}

/// Whether a generated kernel reads as little as the library and is faster: a product with a vector
/// is a sum, and an outer product is a multiplication, which fuse with the ops around them. So does
/// a product with a tiny matrix; where its extents are symbols, the library multiplies. Otherwise
/// tests only for extents of 1, so that a program with symbols for other extents decides alike.
bool is_own_kernel(const Graph& graph, ValueId a, ValueId b, const ir::Target& target) {
  const auto is_one = [&](ValueId value, std::size_t from_end) {
    const Shape& shape = graph.shape(value);
    return shape[shape.size() - from_end] == Dim(1);
  };
  const bool row = is_one(a, 2), column = is_one(b, 1), outer = is_one(a, 1);
  const ir::Capabilities& capabilities = ir::capabilities_of(target);
  if (capabilities.kernel_matvecs && (is_tiny(graph, a) || is_tiny(graph, b))) return true;
  return (capabilities.kernel_dots && ((row && column) || outer)) ||
         (capabilities.kernel_matvecs && (row || column));
}

bool has_symbol(const Dim& dim, std::optional<ir::SymbolId> symbol) {
  if (!symbol || dim.is_constant()) return false;
  std::vector<ir::SymbolId> symbols;
  dim.collect_symbols(symbols);
  return std::ranges::find(symbols, *symbol) != symbols.end();
}

/// Whether a library should read a slice from the array that it is part of: its matrices are
/// neighbours in memory, and the array is in memory anyway, or not much larger.
bool is_read_below(const Graph& graph, ValueId slice, std::optional<ir::SymbolId> counter) {
  const ValueId array = graph.operands(slice)[0];
  const Shape& whole = graph.shape(array);
  const ir::Attributes& part = graph.attributes(slice);
  const std::size_t rank = whole.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    // Steps of a loop start elsewhere, but the call is prepared once.
    if (part.steps[axis] != Dim(1) || has_symbol(part.starts[axis], counter)) return false;
    if (axis > 0 && axis + 2 < rank && part.shape[axis] != whole[axis]) return false;
  }
  const Op op = graph.op(swaps_last_axes(graph, array) ? graph.operands(array)[0] : array);
  const bool in_memory = op == Op::parameter || ir::is_of_call(op);
  const Dim twice = ir::element_count(part.shape) * Dim(2);
  return in_memory || (twice - ir::element_count(whole)).is_non_negative();
}

LibraryOperand below_slice(const Graph& graph, const LibraryOperand& operand) {
  const ir::Dims& starts = graph.attributes(operand.value).starts;
  const std::size_t rank = starts.size();
  LibraryOperand found = operand;
  found.value = graph.operands(operand.value)[0];
  found.sliced = true;
  found.row = starts[rank - 2];
  found.column = starts[rank - 1];
  if (rank > 2) found.batch = starts[0];
  return found;
}

/// What may be part of a product.
struct Looks {
  bool widens;                          ///< below casts to f32
  bool conjugates;                      ///< below a conjugate
  std::optional<ir::SymbolId> counter;  ///< of the loop whose region the graph is
};

/// Looks below a transpose of the last two axes, below a slice, below reshapes, and below what
/// `looks` says.
LibraryOperand look_through(const Graph& graph, ValueId value, Looks looks) {
  LibraryOperand found{value};
  bool reshaped = false;
  const auto below = [&] { return graph.operands(found.value)[0]; };
  for (;;) {
    const Op op = graph.op(found.value);
    // A transpose below a reshape does not transpose the product's axes.
    if (swaps_last_axes(graph, found.value) && !reshaped && !found.transposed) {
      found.value = below();
      found.transposed = true;
      std::swap(found.row, found.column);
    } else if (op == Op::slice && !reshaped && !found.sliced &&
               is_read_below(graph, found.value, looks.counter)) {
      found = below_slice(graph, found);
    } else if (op == Op::reshape && !found.sliced &&
               !ir::is_view(graph.op(strip_reshapes(graph, found.value)))) {
      found.value = below();
      reshaped = true;
    } else if (looks.conjugates && op == Op::conjugate) {
      found.value = below();
      found.conjugated = !found.conjugated;
    } else if (looks.widens && op == Op::cast && graph.dtype(found.value) == DType::f32 &&
               is_half(graph.dtype(below()))) {
      found.value = below();
      looks.widens = false;
    } else {
      return found;
    }
  }
}

/// Libraries conjugate only operands that they transpose.
LibraryOperand operand_of(const Graph& graph, ValueId value, bool widens,
                          std::optional<ir::SymbolId> counter) {
  const LibraryOperand found = look_through(graph, value, {widens, true, counter});
  if (found.transposed || !found.conjugated) return found;
  return look_through(graph, value, {widens, false, counter});
}

/// The number of parts into which the terms of a product are split, if it has few rows and columns,
/// and many terms whose order in memory allows it; else 1. One multiprocessor computes a part.
std::int64_t parts_of(const Graph& graph, ValueId a, ValueId b, const ir::Target& target) {
  constexpr std::int64_t most_columns = 128, least_terms = 1 << 14, most_parts = 512;
  const Shape &left = graph.shape(a), &right = graph.shape(b);
  const bool applies = ir::capabilities_of(target).splits_long_products && left.size() == 2 &&
                       right.size() == 2 && ir::is_constant(left) && ir::is_constant(right) &&
                       !is_half(graph.dtype(a)) && swaps_last_axes(graph, a) &&
                       !swaps_last_axes(graph, b);
  if (!applies) return 1;
  const std::int64_t terms = left[1].constant();
  if (left[0].constant() > most_columns || right[1].constant() > most_columns ||
      terms < least_terms)
    return 1;
  for (std::int64_t parts = most_parts; parts > 1; --parts) {
    if (terms % parts == 0) return parts;
  }
  return 1;
}

// a is the transpose of [terms, rows]: parts of it, and of b, are contiguous in memory.
ValueId sum_of_parts(Graph& graph, ValueId a, ValueId b, std::int64_t parts,
                     const ir::Attributes& product, ir::Location location) {
  const auto split = [&](ValueId value) {
    const Shape shape = graph.shape(value);
    ir::Attributes attributes;
    attributes.shape = {Dim(parts), Dim(shape[0].constant() / parts), shape[1]};
    return graph.add(Op::reshape, {value}, attributes, location);
  };
  ir::Attributes swap;
  swap.axes = {0, 2, 1};
  const ValueId left = graph.add(Op::transpose, {split(graph.operands(a)[0])}, swap, location);
  const ValueId products = graph.add(Op::call, {left, split(b)}, product, location);
  ir::Attributes along;
  along.axes = {0};
  return graph.add(Op::sum, {products}, along, location);
}

/// Where an operand's elements are: in elements, the first one, the distance between rows, and that
/// between matrices of a batch.
struct Stored {
  Dim start, leading, matrix;
};

Stored stored(const Graph& graph, const LibraryOperand& operand, Dim rows, Dim columns) {
  if (!operand.sliced) return {0, operand.transposed ? rows : columns, rows * columns};
  const Shape& shape = graph.shape(operand.value);
  const Dim leading = shape[shape.size() - 1], matrix = shape[shape.size() - 2] * leading;
  Dim first_batch = 1;  // matrices in one step along the first axis
  for (std::size_t axis = 1; axis + 2 < shape.size(); ++axis) first_batch *= shape[axis];
  return {operand.batch * first_batch * matrix + operand.row * leading + operand.column, leading,
          matrix};
}

/// A batch of matrices whose rows follow each other, times one matrix, is one product.
void join_batch(GemmCall& step) {
  const bool rows_follow = !step.a_transposed && step.a_batch_stride == step.rows * step.a_leading;
  if (step.batch == Dim(1) || step.b_batch_stride != Dim(0) || !rows_follow) return;
  const Dim rows = step.rows * step.batch;
  // Libraries count rows with 32 bits.
  if (rows.is_constant() && rows.constant() > std::numeric_limits<std::int32_t>::max()) return;
  step.rows = rows;
  step.batch = 1;
  step.a_batch_stride = 0;
  step.out_batch_stride = step.rows * step.columns;
}

}  // namespace

LibraryOperands library_operands(const Graph& graph, ValueId product, bool widens,
                                 std::optional<ir::SymbolId> counter) {
  const ValueId a = graph.operands(product)[0], b = graph.operands(product)[1];
  if (widens) {
    const LibraryOperand left = operand_of(graph, a, true, counter);
    const LibraryOperand right = operand_of(graph, b, true, counter);
    const DType dtype = graph.dtype(left.value);
    if (dtype == graph.dtype(right.value)) return {left, right, dtype};
  }
  return {operand_of(graph, a, false, counter), operand_of(graph, b, false, counter),
          graph.dtype(product)};
}

bool library_widens(const ir::Target& target, bool strict) {
  return ir::capabilities_of(target).gemm_widens && !strict;
}

bool library_multiplies(DType dtype, const ir::Target& target) {
  if (dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype)) return true;
  return ir::capabilities_of(target).gemm_halves && is_half(dtype);
}

namespace {

/// Whether operand k of the call is computed element by element, for the call only.
bool is_only_for(const OldCall& call, std::size_t k) {
  const Graph& graph = call.graph;
  const ValueId operand = graph.operands(call.node)[k];
  if (!ir::is_elementwise(graph.op(operand)) || std::ranges::count(graph.outputs, operand) > 0)
    return false;
  return ir::use_counts(graph)[index_of(operand)] == 1;
}

}  // namespace

std::vector<ValueId> lower_matmul(Graph& graph, const OldCall& call, const ir::Target& target) {
  const std::vector<ValueId>& factors = call.operands;
  const ir::Type& type = call.graph.result_types(call.node)[0];
  if (graph.shape(factors[0]).back() == Dim(0)) return {filled(graph, type, 0)};
  const ir::Location location = call.location();
  const DType dtype = type.dtype;
  const bool library = library_multiplies(dtype, target);
  if ((!library && !is_half(dtype)) || is_own_kernel(graph, factors[0], factors[1], target))
    return {multiply_and_sum(graph, factors[0], factors[1], location)};
  const Shape batch = batch_of(type.shape);
  const DType multiplied = library ? dtype : DType::f32;
  const auto operand = [&](std::size_t k) {
    // What others need, too, is stored as it is.
    const bool alone = has_transpose_below(graph, factors[k]) && is_only_for(call, k);
    const ValueId value = alone ? with_transpose_last(graph, factors[k], location) : factors[k];
    return with_whole_batch(graph, cast(graph, value, multiplied, location), batch, location);
  };
  const ValueId a = operand(0), b = operand(1);
  const ir::Attributes& attributes = call.graph.attributes(call.node);
  if (const std::optional<ValueId> gram = lower_gram(graph, a, b, target, location)) return {*gram};
  if (const std::int64_t parts = parts_of(graph, a, b, target); parts > 1)
    return {sum_of_parts(graph, a, b, parts, attributes, location)};
  const ValueId product = graph.add(Op::call, {a, b}, attributes, location);
  return {cast(graph, product, dtype, location)};
}

std::vector<ValueId> matmul_reads(const Graph& graph, ValueId call, const CallTarget& target) {
  if (matmul_item(graph, call, target.target)) {
    return {strip_reshapes(graph, graph.operands(call)[0]),
            strip_reshapes(graph, graph.operands(call)[1])};
  }
  const LibraryOperands operands =
      library_operands(graph, call, library_widens(target.target, target.strict), target.counter);
  return {operands.a.value, operands.b.value};
}

GemmCall describe_matmul(CallBuilder& builder) {
  const Graph& graph = builder.graph;
  const ValueId node = builder.call;
  const bool widens = library_widens(builder.target.target, builder.target.strict);
  GemmCall step;
  const LibraryOperands operands = library_operands(graph, node, widens, builder.target.counter);
  const ValueId a = graph.operands(node)[0], b = graph.operands(node)[1];
  const Shape& a_shape = graph.shape(a);
  const Shape& b_shape = graph.shape(b);
  const std::size_t a_rank = a_shape.size(), b_rank = b_shape.size();
  step.a = builder.array(operands.a.value).buffer;
  step.b = builder.array(operands.b.value).buffer;
  step.dtype = graph.dtype(node);
  step.operand_dtype = operands.dtype;
  step.precision = ir::precision_of(*graph.attributes(node).call);
  step.rows = a_shape[a_rank - 2];
  step.depth = a_shape[a_rank - 1];
  step.columns = b_shape[b_rank - 1];
  step.batch = ir::element_count(batch_of(graph.shape(node)));
  step.a_transposed = operands.a.transposed;
  step.b_transposed = operands.b.transposed;
  step.a_conjugated = operands.a.conjugated;
  step.b_conjugated = operands.b.conjugated;
  const Stored left = stored(graph, operands.a, step.rows, step.depth);
  const Stored right = stored(graph, operands.b, step.depth, step.columns);
  step.a_start = left.start;
  step.b_start = right.start;
  step.a_leading = left.leading;
  step.b_leading = right.leading;
  step.a_batch_stride = is_single(batch_of(a_shape)) ? Dim(0) : left.matrix;
  step.b_batch_stride = is_single(batch_of(b_shape)) ? Dim(0) : right.matrix;
  step.out_batch_stride = step.rows * step.columns;
  join_batch(step);
  return step;
}

Dim matmul_flops(const Graph& graph, ValueId call) {
  const std::int64_t each = is_complex(graph.dtype(call)) ? 8 : 2;
  return ir::element_count(graph.shape(call)) * graph.shape(graph.operands(call)[0]).back() *
         Dim(each);
}

DescribedCall describe_product(CallBuilder& builder) {
  GemmCall product = describe_matmul(builder);
  product.out = builder.result(0).buffer;
  return {to_call(product), array_bytes(builder.graph, builder.call)};
}

}  // namespace heddle::passes
