#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/jit.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"
#include "heddle/spectral.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
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

void report(const char* op, const NodeRef& matrices, const std::vector<NodeRef>& results,
            const char* why, const SourceLocation& where) {
  const NodeRef& statuses = results.back();
  const auto message = [call = fmt::format("{}({})", op, frontend::describe(*matrices)), why,
                        batch = statuses->shape](std::int64_t item) {
    return fmt::format("{}: {} {}", call, frontend::item_name(batch, item), why);
  };
  frontend::report_failures(op, results[0], statuses, message, where);
}

constexpr const char* diverged = "has eigenvalues that did not converge";
constexpr const char* not_finite_or_diverged =
    "contains NaN or infinities, or its eigenvalues did not converge";

/// Results of the op for columns: its operand is transposed, so that a column is contiguous.
std::vector<NodeRef> record_eig(const char* name, const ir::CallOp& op, const Operand& a) {
  const SourceLocation where = a.where();
  const NodeRef stack = frontend::inexact_operand(name, a);
  frontend::require_square(name, stack, where);
  const NodeRef transposed = frontend::matrix_transpose(stack, where);
  std::vector<NodeRef> results = frontend::record_call(op, {&transposed, 1}, {}, where);
  report(name, stack, results, not_finite_or_diverged, where);
  return results;
}

/// Elements [first, first + count) of the axis of rows.
NodeRef some_rows(const NodeRef& rows, ir::Dim first, ir::Dim count, const SourceLocation& where) {
  return frontend::slice_along(rows, frontend::rank_of(rows) - 2, first, count, 1, where);
}

/// Eigenvectors of real matrices, as rows. LAPACK packs those of a pair of conjugates into two
/// rows: the real part, then the imaginary part of the first one.
NodeRef unpacked_rows(const NodeRef& rows, const NodeRef& values, const SourceLocation& where) {
  using ir::Op;
  if (is_complex(rows->dtype)) return rows;
  const ir::Dim n = rows->shape.back(), one = 1;
  if (n == ir::Dim(0)) return frontend::cast_to(rows, values->dtype, where);
  const std::int64_t axis = frontend::rank_of(rows) - 2;
  const NodeRef from_second[] = {some_rows(rows, one, n - one, where),
                                 some_rows(rows, 0, one, where)};
  const NodeRef to_last[] = {some_rows(rows, n - one, one, where),
                             some_rows(rows, 0, n - one, where)};
  const NodeRef next = frontend::join_along(from_second, axis, where);
  const NodeRef previous = frontend::join_along(to_last, axis, where);
  const NodeRef sizes =
      frontend::insert_axis(frontend::record(Op::imag, {values}, where), axis + 1, where);
  const NodeRef zero = frontend::record_constant(rows->dtype, 0);
  const NodeRef first = frontend::record(Op::greater, {sizes, zero}, where);
  const NodeRef second = frontend::record(Op::less, {sizes, zero}, where);
  const NodeRef negative = frontend::record(Op::negative, {rows}, where);
  const NodeRef real_part = frontend::record(Op::select, {second, previous, rows}, where);
  const NodeRef rest = frontend::record(Op::select, {second, negative, zero}, where);
  const NodeRef imaginary = frontend::record(Op::select, {first, next, rest}, where);
  return frontend::record(Op::make_complex, {real_part, imaginary}, where);
}

/// Whether the eigenvalues of real matrices are all real, so that results are, too. Evaluates;
/// false inside a trace.
bool are_real(const Operand& a, const Array& values) {
  if (frontend::tracing() || is_complex(frontend::asarray_node("linalg.eig", a)->dtype))
    return false;
  const AtLocation here(a);
  return all(here(equal(here(imag(here(values))), here(Scalar(0.0))))).item<bool>(a.where());
}

}  // namespace

linalg::EighResult linalg::eigh(const Operand& a, const EighOptions& options) {
  const SourceLocation where = a.where();
  const NodeRef stack = frontend::inexact_operand("linalg.eigh", a);
  const std::vector<NodeRef> results =
      frontend::record_call(ir::calls::eigh(), {&stack, 1}, {{"upper", options.upper}}, where);
  report("linalg.eigh", stack, results, diverged, where);
  // The op gives conjugates of eigenvectors as rows.
  NodeRef vectors = frontend::matrix_transpose(results[1], where);
  if (is_complex(vectors->dtype)) vectors = frontend::record(ir::Op::conjugate, {vectors}, where);
  return {Access::make(results[0]), Access::make(vectors)};
}

Array linalg::eigvalsh(const Operand& a, const EighOptions& options) {
  const SourceLocation where = a.where();
  const NodeRef stack = frontend::inexact_operand("linalg.eigvalsh", a);
  const std::vector<NodeRef> results =
      frontend::record_call(ir::calls::eigvalsh(), {&stack, 1}, {{"upper", options.upper}}, where);
  report("linalg.eigvalsh", stack, results, not_finite_or_diverged, where);
  return Access::make(results[0]);
}

linalg::EigResult linalg::eig(const Operand& a) {
  const AtLocation here(a);
  const std::vector<NodeRef> results = record_eig("linalg.eig", ir::calls::eig(), a);
  const Array values = Access::make(results[0]);
  const auto columns = [&](const NodeRef& rows) {
    return Access::make(frontend::matrix_transpose(rows, a.where()));
  };
  if (are_real(a, values)) return {real(here(values)), columns(results[1])};
  return {values, columns(unpacked_rows(results[1], results[0], a.where()))};
}

Array linalg::eigvals(const Operand& a) {
  const AtLocation here(a);
  const Array values = Access::make(record_eig("linalg.eigvals", ir::calls::eigvals(), a)[0]);
  return are_real(a, values) ? real(here(values)) : values;
}

}  // namespace heddle
