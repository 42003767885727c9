#include "frontend/linalg/failures.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/linalg.h"

#include "frontend/array/ordering.h"
#include "frontend/evaluate/checks.h"

namespace heddle {

namespace {

thread_local LinAlgErrors thread_errors = LinAlgErrors::raise;

}  // namespace

LinAlgErrors set_linalg_errors(LinAlgErrors errors) { return std::exchange(thread_errors, errors); }

frontend::NodeRef frontend::first_failure(const frontend::NodeRef& infos,
                                          const SourceLocation& where) {
  using ir::Op;
  const frontend::OpRecorder on{where};
  const frontend::NodeRef none = frontend::record_constant(DType::i64, -1);
  if (infos->shape.empty()) {
    const frontend::NodeRef fails =
        on(Op::not_equal, infos, frontend::record_constant(DType::i32, 0));
    return on(Op::select, fails, frontend::record_constant(DType::i64, 0), none);
  }
  if (ir::element_count(infos->shape) == ir::Dim(0)) return none;
  const frontend::NodeRef flat = on.flat(infos);
  const frontend::NodeRef failed =
      on(Op::not_equal, flat, frontend::record_constant(DType::i32, 0));
  const frontend::NodeRef last = frontend::record_constant(DType::i64, 0x1p62);
  frontend::NodeRef items =
      on(Op::select, failed, frontend::record_iota(flat->shape, 0, DType::i64, where), last);
  if (!ir::is_constant(flat->shape)) {
    ir::Attributes along_the_first;
    along_the_first.axes = {0};
    items =
        frontend::record(Op::concatenate, {items, on.reshape(last, {1})}, along_the_first, where);
  }
  const frontend::NodeRef first = on.reduce(Op::min, items, {0});
  return on(Op::select, on(Op::equal, first, last), none, first);
}

std::string frontend::item_name(const ir::Shape& batch, std::int64_t item) {
  if (batch.empty()) return "the matrix";
  if (batch.size() == 1) return fmt::format("matrix {}", item);
  if (!ir::is_constant(batch)) return fmt::format("matrix {} of {}", item, to_string(batch));
  std::vector<std::int64_t> index(batch.size());
  for (std::size_t axis = batch.size(); axis-- > 0;) {
    index[axis] = item % batch[axis].constant();
    item /= batch[axis].constant();
  }
  return fmt::format("matrix [{}]", fmt::join(index, ","));
}

bool frontend::ignores_failures() { return thread_errors == LinAlgErrors::ignore; }

void frontend::report_failures(const char* what, const NodeRef& value, const NodeRef& infos,
                               std::function<std::string(std::int64_t item)> message,
                               const SourceLocation& where) {
  if (ignores_failures()) return;
  for (const ir::Dim extent : infos->shape) {
    if (extent == ir::Dim(0)) return;
  }
  Check check{first_failure(infos, where),
              std::make_shared<const std::function<std::string(std::int64_t)>>(
                  [message = std::move(message), where](std::int64_t item) {
                    return at(message(item), where);
                  })};
  const bool defers = thread_errors == LinAlgErrors::defer;
  check_recorded(what, std::move(check), {value},
                 defers ? RaiseFailure::at_next_wait : RaiseFailure::at_once, where);
}

}  // namespace heddle
