#include <string>
#include <utility>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/linalg.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/linalg/failures.h"
#include "frontend/linalg/matrix_operand.h"
#include "frontend/linalg/unequal_rows_error.h"
#include "ir/calls/calls.h"
#include "ir/types/shape.h"

namespace heddle {

using frontend::NodeRef;

namespace {

/// Records linalg.solve: `b` and the result are transposed, and `a` where `transposed`. `call`
/// describes the user's call in messages.
NodeRef solve_nodes(const char* name, const std::string& call, const NodeRef& a, const NodeRef& b,
                    bool transposed, const SourceLocation& site) {
  const NodeRef operands[] = {a, b};
  const std::vector<NodeRef> results =
      frontend::record_call(ir::calls::solve(), operands, {{"transposed", transposed}}, site);
  const NodeRef& status = results[3];
  const auto message = [call, batch = status->shape](std::int64_t item) {
    return fmt::format("{}: {} is singular", call, frontend::item_name(batch, item));
  };
  frontend::report_failures(name, results[0], status, message, site);
  return results[0];
}

}  // namespace

Array linalg::solve(const Operand& a, const Operand& b) {
  const SourceLocation site = a.where();
  const frontend::OpRecorder on{site};
  auto [matrices, sides] = frontend::inexact_operands("linalg.solve", a, b);
  frontend::require_square("linalg.solve", matrices, site);
  const std::string call = fmt::format("linalg.solve({}, {})", frontend::describe(*matrices),
                                       frontend::describe(*sides));
  if (sides->shape.empty())
    throw ShapeError(frontend::at(call + ": b must have at least 1 dimension", site));
  const bool vector = sides->shape.size() == 1;
  if (vector) sides = on.reshape(sides, {sides->shape[0], 1});
  const ir::Dim n = frontend::rows_of(matrices);
  if (frontend::rows_of(sides) != n) {
    throw frontend::UnequalRowsError(
        frontend::at(fmt::format("{}: the matrices have {} rows, b has {}; they must be equal",
                                 call, n.to_string(), frontend::rows_of(sides).to_string()),
                     site));
  }
  const ir::Shape batch = frontend::located(site, [&] {
    return ir::broadcast_shapes(frontend::batch_of(matrices), frontend::batch_of(sides));
  });
  matrices = frontend::with_batch(matrices, batch, 2, site);
  sides = frontend::with_batch(frontend::matrix_transpose(sides, site), batch, 2, site);
  NodeRef x = solve_nodes("linalg.solve", call, matrices, sides, false, site);
  if (!vector) return frontend::Access::make(frontend::matrix_transpose(x, site));
  ir::Shape shape = batch;
  shape.push_back(n);
  return frontend::Access::make(on.reshape(x, std::move(shape)));
}

Array linalg::inv(const Operand& a) {
  const SourceLocation site = a.where();
  const NodeRef matrices = frontend::inexact_operand("linalg.inv", a);
  frontend::require_square("linalg.inv", matrices, site);
  const frontend::OpRecorder on{site};
  const auto rank = static_cast<std::int64_t>(matrices->shape.size());
  const NodeRef row = frontend::record_iota(matrices->shape, rank - 2, DType::i64, site);
  const NodeRef column = frontend::record_iota(matrices->shape, rank - 1, DType::i64, site);
  const NodeRef identity = on.cast(on(ir::Op::equal, row, column), matrices->dtype);
  // The transpose of the inverse of the transposed matrix is the inverse: nothing is transposed.
  return frontend::Access::make(
      solve_nodes("linalg.inv", fmt::format("linalg.inv({})", frontend::describe(*matrices)),
                  matrices, identity, true, site));
}

}  // namespace heddle
