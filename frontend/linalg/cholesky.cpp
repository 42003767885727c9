#include <fmt/format.h>

#include "heddle/linalg.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/record.h"
#include "frontend/linalg/failures.h"
#include "ir/calls/calls.h"

namespace heddle {

using frontend::NodeRef;

Array linalg::cholesky(const Operand& a, const CholeskyOptions& options) {
  const SourceLocation where = a.where();
  NodeRef matrices = frontend::asarray_node("linalg.cholesky", a);
  if (!is_inexact(matrices->dtype)) matrices = frontend::cast_to(matrices, DType::f64, where);
  const std::vector<NodeRef> results = frontend::record_call(ir::calls::cholesky(), {&matrices, 1},
                                                             {{"upper", options.upper}}, where);
  const auto message = [text = describe(*matrices), batch = results[1]->shape](std::int64_t item) {
    return fmt::format("linalg.cholesky({}): {} is not positive definite", text,
                       frontend::item_name(batch, item));
  };
  frontend::report_failures("linalg.cholesky", results[0], results[1], message, where);
  return frontend::Access::make(results[0]);
}

}  // namespace heddle
