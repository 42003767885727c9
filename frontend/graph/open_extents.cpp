#include "frontend/graph/open_extents.h"

#include <utility>

#include "heddle/error.h"

#include "runtime/base/per_thread.h"

namespace heddle::frontend {

namespace {

std::optional<OpenExtents>& last_asked() {
  return runtime::per_thread<std::optional<OpenExtents>>();
}

}  // namespace

void fail_open(const OpenExtents& open, const std::string& message) {
  last_asked() = open;
  throw ShapeError(message);
}

std::optional<OpenExtents> take_open_extents() { return std::exchange(last_asked(), std::nullopt); }

}  // namespace heddle::frontend
