#include "frontend/array/indices_where.h"

#include "frontend/array/access.h"
#include "frontend/array/region.h"
#include "frontend/graph/trace.h"

namespace heddle::frontend {

NodeRef places_of(const char* what, const NodeRef& mask, std::vector<NodeRef> beside,
                  const OpRecorder& on) {
  if (Trace::current() != nullptr) value_in_trace(what, on.site);
  // One program for all, so that the mask's operands are not computed twice.
  beside.push_back(mask);
  std::vector<Array> arrays;
  for (const NodeRef& node : beside) arrays.push_back(Access::make(node));
  eval(arrays);
  return nonzero_indices(what, mask, on.site).front();
}

}  // namespace heddle::frontend
