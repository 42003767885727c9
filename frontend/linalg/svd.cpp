#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/sorting.h"
#include "heddle/spectral.h"
#include "heddle/take.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/linalg/failures.h"
#include "frontend/linalg/matrix_operand.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::NodeRef;

namespace {

void report(const char* op, const NodeRef& matrices, const NodeRef& value, const NodeRef& statuses,
            const SourceLocation& where) {
  const auto message = [call = fmt::format("{}({})", op, frontend::describe(*matrices)),
                        batch = statuses->shape](std::int64_t item) {
    return fmt::format("{}: {} contains NaN, or its singular values did not converge", call,
                       frontend::item_name(batch, item));
  };
  frontend::report_failures(op, value, statuses, message, where);
}

/// Identity matrices of the stack's batch, n by n.
Array identities(const NodeRef& stack, ir::Dim n, const SourceLocation& where) {
  ir::Shape shape(stack->shape.begin(), stack->shape.end() - 2);
  const Array one = eye(n.constant(), -1, 0, stack->dtype, where);
  shape.insert(shape.end(), 2, n);
  return Access::make(
      frontend::broadcast_to_shape(Access::node(one, where), std::move(shape), where));
}

Array without_elements(const NodeRef& stack, DType dtype, std::initializer_list<ir::Dim> core,
                       const SourceLocation& where) {
  ir::Shape shape(stack->shape.begin(), stack->shape.end() - 2);
  shape.insert(shape.end(), core);
  return Access::make(
      frontend::broadcast_to_shape(frontend::record_constant(dtype, 0), std::move(shape), where));
}

/// Of matrices without elements.
linalg::SvdResult empty_svd(const NodeRef& stack, bool full, const SourceLocation& where) {
  const ir::Dim m = stack->shape[stack->shape.size() - 2], n = stack->shape.back();
  const Array s = without_elements(stack, real_dtype(stack->dtype), {0}, where);
  if (full) return {identities(stack, m, where), s, identities(stack, n, where)};
  return {without_elements(stack, stack->dtype, {m, 0}, where), s,
          without_elements(stack, stack->dtype, {0, n}, where)};
}

/// The singular values of a Hermitian matrix are the magnitudes of its eigenvalues.
linalg::SvdResult hermitian_svd(const Operand& a) {
  const AtLocation here(a);
  const auto [values, vectors] = linalg::eigh(a);
  const Array order = argsort(here(absolute(here(values))), -1, true);
  const Array sorted = take_along_axis(here(values), here(order), -1);
  const Array u = take_along_axis(here(vectors), here(expand_dims(here(order), -2)), -1);
  const Array signs = expand_dims(here(copysign(here(Scalar(1.0)), here(sorted))), -2);
  const Array vh = conj(here(matrix_transpose(here(multiply(here(u), here(signs))))));
  return {u, absolute(here(sorted)), vh};
}

bool has_no_elements(const NodeRef& stack) {
  return frontend::rows_of(stack) == ir::Dim(0) || frontend::columns_of(stack) == ir::Dim(0);
}

}  // namespace

linalg::SvdResult linalg::svd(const Operand& a, const SvdOptions& options) {
  if (options.hermitian) return hermitian_svd(a);
  const SourceLocation where = a.where();
  const NodeRef stack = frontend::inexact_operand("linalg.svd", a);
  frontend::require_matrices("linalg.svd", stack, where);
  if (has_no_elements(stack)) return empty_svd(stack, options.full_matrices, where);
  frontend::smaller_extent("linalg.svd", stack, where);
  const std::vector<NodeRef> results = frontend::record_call(
      ir::calls::svd(), {&stack, 1}, {{"full_matrices", options.full_matrices}}, where);
  report("linalg.svd", stack, results[0], results[3], where);
  return {Access::make(results[0]), Access::make(results[1]), Access::make(results[2])};
}

Array linalg::svdvals(const Operand& a, bool hermitian) {
  const AtLocation here(a);
  if (hermitian) return sort(here(absolute(here(eigvalsh(a)))), -1, true);
  const NodeRef stack = frontend::inexact_operand("linalg.svdvals", a);
  frontend::require_matrices("linalg.svdvals", stack, a.where());
  if (has_no_elements(stack))
    return without_elements(stack, real_dtype(stack->dtype), {0}, a.where());
  frontend::smaller_extent("linalg.svdvals", stack, a.where());
  const std::vector<NodeRef> results =
      frontend::record_call(ir::calls::svdvals(), {&stack, 1}, {}, a.where());
  report("linalg.svdvals", stack, results[0], results[1], a.where());
  return Access::make(results[0]);
}

}  // namespace heddle
