#include "frontend/graph/dynamic_starts.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "frontend/graph/hash_combiner.h"
#include "runtime/base/per_thread.h"

namespace heddle::frontend {
namespace {

/// The starts that one call site has used.
struct Seen {
  ir::Dims starts;
  std::uint32_t changed = 0;
};

/// Call sites of one thread. Cleared when there are too many; the table only saves compilations.
constexpr std::size_t capacity = 4096;
using Places = std::unordered_map<ir::Hash128, Seen, ir::Hash128Hasher>;

}  // namespace

std::uint32_t dynamic_starts(ir::Op op, const Site& site, const ir::Attributes& region) {
  const ir::Hash128 place = HashCombiner()
                                .number(static_cast<std::uint64_t>(op))
                                .number(reinterpret_cast<std::uintptr_t>(site.location.file))
                                .number((std::uint64_t{site.location.line} << 32) | site.column)
                                .number(region.starts.size())
                                .finish();
  Places& places = runtime::per_thread<Places>();
  if (places.size() >= capacity && !places.contains(place)) places.clear();
  const auto [found, is_new] = places.try_emplace(place, Seen{region.starts, 0});
  if (is_new) return 0;
  Seen& seen = found->second;
  std::uint32_t open = 0;
  for (std::size_t axis = 0; axis < std::min<std::size_t>(region.starts.size(), 32); ++axis) {
    if (seen.starts[axis] != region.starts[axis]) seen.changed |= 1U << axis;
    const bool known = region.starts[axis].is_constant() && region.shape[axis] != ir::Dim(0);
    if (known) open |= seen.changed & 1U << axis;
  }
  return open;
}

}  // namespace heddle::frontend
