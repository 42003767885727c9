#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "heddle/linalg.h"

#include "frontend/array/access.h"
#include "frontend/linalg/failures.h"
#include "frontend/linalg/matrix_operand.h"
#include "frontend/linalg/unequal_rows_error.h"
#include "ir/calls/calls.h"
#include "ir/types/shape.h"

namespace heddle {

using frontend::NodeRef;
using frontend::OpRecorder;
using frontend::record_constant;
using ir::Op;

namespace {

/// For each matrix, the order of the first 0 on its diagonal, or 0, as i32.
NodeRef first_zero_of_diagonal(const NodeRef& a, const OpRecorder& on) {
  const ir::Dim n = frontend::rows_of(a);
  const auto axis = static_cast<std::int64_t>(a->shape.size()) - 2;
  const NodeRef row = frontend::record_iota({n, n}, 0, DType::i32, on.site);
  const NodeRef column = frontend::record_iota({n, n}, 1, DType::i32, on.site);
  const NodeRef zero = on(Op::logical_and, on(Op::equal, row, column),
                          on(Op::equal, a, record_constant(a->dtype, 0)));
  // The largest of n - row, so that the first one counts.
  const NodeRef left = on(Op::subtract, on.cast(on.extent(n), DType::i32), row);
  const NodeRef most = on.reduce(
      Op::sum, on.cast(on(Op::select, zero, left, record_constant(DType::i32, 0)), DType::i32),
      {axis + 1});
  const NodeRef largest = on.reduce(Op::max, most, {axis});
  const NodeRef order = on(Op::subtract, on.cast(on.extent(n + ir::Dim(1)), DType::i32),
                           on.cast(largest, DType::i32));
  const NodeRef none = record_constant(DType::i32, 0);
  return on(Op::select, on(Op::greater, on.cast(largest, DType::i32), none), order, none);
}

NodeRef nan_where_failed(const NodeRef& x, const NodeRef& status, const OpRecorder& on) {
  ir::Shape shape = status->shape;
  shape.insert(shape.end(), 2, ir::Dim(1));
  const NodeRef fine =
      on(Op::equal, on.reshape(status, std::move(shape)), record_constant(DType::i32, 0));
  return on(Op::select, fine, x,
            record_constant(x->dtype, std::numeric_limits<double>::quiet_NaN()));
}

const char* name_of(linalg::Transposed transposed) {
  if (transposed == linalg::Transposed::no) return "none";
  return transposed == linalg::Transposed::yes ? "transpose" : "conjugate";
}

}  // namespace

Array linalg::solve_triangular(const Operand& a, const Operand& b,
                               const TriangularOptions& options) {
  constexpr const char* name = "linalg.solve_triangular";
  const SourceLocation site = a.where();
  const OpRecorder on{site};
  auto [matrices, sides] = frontend::inexact_operands(name, a, b);
  frontend::require_square(name, matrices, site);
  const std::string call =
      fmt::format("{}({}, {})", name, frontend::describe(*matrices), frontend::describe(*sides));
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
  const NodeRef operands[] = {frontend::with_batch(matrices, batch, 2, site),
                              frontend::with_batch(sides, batch, 2, site)};
  NodeRef x = frontend::record_call(ir::calls::solve_triangular(), operands,
                                    {{"lower", options.lower},
                                     {"unit", options.unit_diagonal},
                                     {"transpose", std::string(name_of(options.transposed))}},
                                    site)[0];
  if (!options.unit_diagonal && n != ir::Dim(0)) {
    const NodeRef status = first_zero_of_diagonal(operands[0], on);
    x = nan_where_failed(x, status, on);
    const auto message = [call, batch](std::int64_t item) {
      return fmt::format("{}: {} is singular", call, frontend::item_name(batch, item));
    };
    frontend::report_failures(name, x, status, message, site);
  }
  if (!vector) return frontend::Access::make(x);
  ir::Shape shape = batch;
  shape.push_back(n);
  return frontend::Access::make(on.reshape(x, std::move(shape)));
}

}  // namespace heddle
