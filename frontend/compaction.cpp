#include "frontend/compaction.h"

#include "frontend/evaluate.h"
#include "frontend/trace.h"

namespace heddle::frontend {

using ir::Op;

NodeRef places_of(const char* what, const NodeRef& mask, std::vector<NodeRef> beside,
                  const Composer& on) {
  if (Trace::current() != nullptr) value_in_trace(what, on.site);
  // Stable, so that the places of what holds stay in order before all others.
  const NodeRef order = on.sort(Op::argsort, on(Op::logical_not, mask), 0);
  const NodeRef count = on.reduce(Op::sum, on.cast(mask, DType::i64), {0});
  beside.push_back(order);
  beside.push_back(count);
  std::vector<Array> arrays;
  for (const NodeRef& node : beside) arrays.push_back(Access::make(node));
  eval(arrays);
  return on.part(order, 0, 0, arrays.back().item<std::int64_t>(on.site));
}

}  // namespace heddle::frontend
