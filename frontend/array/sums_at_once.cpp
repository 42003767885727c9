#include "codegen/blocks/combine_tree.h"
#include "frontend/array/at_once.h"
#include "frontend/array/at_once_parts.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "ir/scalar/reduce_tree.h"
#include "runtime/compile/kernel_compiler.h"
#include "runtime/device/backend.h"
#include "runtime/libraries/blas.h"

/// Sums that are computed at once: reductions and products.
namespace heddle::frontend {

namespace {

const heddle_blocks::ReductionLoops* reduction_loops(ir::Op op, DType dtype) {
  const runtime::Device device = runtime::current_device();
  return runtime::backend_of(device).compiler().reduction_loops(op, dtype,
                                                                runtime::target_of(device));
}

/// The number to which a row of `count` elements is reduced, in the order that kernels have.
/// values(at, n) has the n elements from number `at` on.
template <class Values>
NodeRef reduced(const heddle_blocks::ReductionLoops& loops, DType dtype, std::int64_t count,
                const Values& values) {
  namespace reduce = heddle_scalar::reduce;
  const int lanes = reduce::lanes_of(count, loops.state_bytes);
  const std::int64_t length = reduce::block_length(loops.state_bytes);
  const auto state_bytes = static_cast<std::size_t>(loops.state_bytes);
  std::byte* const states = room_at_once(0, lanes + codegen::CombineTree::levels, state_bytes);
  codegen::CombineTree blocks(loops, 1, states + static_cast<std::size_t>(lanes) * state_bytes);
  for (std::int64_t at = 0; at < count; at += length) {
    const std::int64_t n = std::min(length, count - at);
    loops.identity(states, lanes);
    loops.lanes(states, lanes, values(at, n), 0, n);
    loops.halve(states, lanes);
    std::memcpy(blocks.leaf(), states, state_bytes);
    blocks.add_leaf(1);
  }
  ir::ElementBits bits;
  loops.finish(bits.bytes(), blocks.totals(1), 1);
  return record_number(dtype, bits);
}

/// The product of a vector and a matrix with few columns, without leading dimensions; nullopt for
/// other operands. Of one row, a product is no sum.
std::optional<runtime::Gemm> vector_product_of(const Node& vector, const Node& matrix) {
  const ir::Shape& shape = matrix.shape;
  if (shape.size() != 2 || !ir::is_constant(shape) || matrix.trace_id != 0 ||
      !has_few_elements(vector))
    return std::nullopt;
  runtime::Gemm product;
  product.dtype = matrix.dtype;
  product.rows = 1;
  product.depth = shape[0].constant();
  product.columns = shape[1].constant();
  if (product.depth < 2 || product.columns > most_at_once) return std::nullopt;
  return product;
}

}  // namespace

NodeRef dot_at_once(const NodeRef& left, const NodeRef& right, const SourceLocation& where) {
  const DType dtype = left->dtype;
  if ((dtype != DType::f32 && dtype != DType::f64) || left->shape != right->shape) return {};
  if (!has_few_elements(*left) || !computes_at_once(where)) return {};
  const NodeRef a = at_hand(left, where), b = a ? at_hand(right, where) : NodeRef();
  const heddle_blocks::MapLoop product = loop_at_once(ir::Op::multiply, dtype);
  const heddle_blocks::ReductionLoops* const loops = reduction_loops(ir::Op::sum, dtype);
  if (!b || product == nullptr || loops == nullptr) return {};
  const std::byte* const first = elements_on_host(*a);
  const std::byte* const second = elements_on_host(*b);
  return reduced(*loops, dtype, a->shape[0].constant(), [&](std::int64_t at, std::int64_t n) {
    const std::size_t before = static_cast<std::size_t>(at) * size_of(dtype);
    const void* const from[] = {first + before, second + before};
    std::byte* const products = room_at_once(most_operands, n);
    product(products, from, n);
    return products;
  });
}

NodeRef vector_product_at_once(const NodeRef& vector, const NodeRef& matrix,
                               const SourceLocation& where) {
  const auto product = vector_product_of(*vector, *matrix);
  if (!product || !computes_at_once(where)) return {};
  const NodeRef left = at_hand(vector, where);
  StridedElements elements;
  const NodeRef right = left ? elements_at_hand(matrix, elements) : NodeRef();
  // Other matrices are copied first, or belong to another product.
  if (!right || elements.strides[1] != 1 || elements.strides[0] < product->columns) return {};
  runtime::Gemm gemm = *product;
  gemm.a_leading = gemm.depth;
  gemm.b_leading = elements.strides[0];
  const runtime::Stream stream = runtime::Stream::current(runtime::current_device());
  if (!runtime::has_fixed_order(gemm, stream.device())) return {};
  auto result = new_array({gemm.dtype, {matrix->shape[1]}}, where);
  if (!result) return {};
  const std::byte* const rows =
      address_of(right->value) + elements.offset * static_cast<std::int64_t>(size_of(gemm.dtype));
  runtime::gemm(gemm, elements_on_host(*left), rows, address_of(*result), nullptr, stream);
  return array_node(*std::move(result));
}

NodeRef reduce_at_once(ir::Op op, const NodeRef& node, const SourceLocation& where) {
  const bool supported = op == ir::Op::sum || op == ir::Op::prod;
  if (!supported || (node->dtype != DType::f32 && node->dtype != DType::f64) ||
      !has_few_elements(*node) || !computes_at_once(where))
    return {};
  const NodeRef values = at_hand(node, where);
  const heddle_blocks::ReductionLoops* const loops = reduction_loops(op, node->dtype);
  if (!values || loops == nullptr) return {};
  const std::byte* const elements = elements_on_host(*values);
  return reduced(*loops, node->dtype, ir::element_count(values->shape).constant(),
                 [&](std::int64_t at, std::int64_t) {
                   return elements + static_cast<std::size_t>(at) * size_of(node->dtype);
                 });
}

}  // namespace heddle::frontend
