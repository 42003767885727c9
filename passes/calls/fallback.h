#pragma once

#include <memory>

#include "passes/groups/group.h"

namespace heddle::passes {

/// A kernel group that computes the epilogue of a product in memory, used if the library refuses
/// the epilogue. `enabled`: families that it may belong to, as in Group::families. Null if none of
/// them accepts it.
std::shared_ptr<const Group> fallback_kernel(const Graph& graph, IndexSpace& space,
                                             const Epilogue& epilogue, std::uint32_t enabled,
                                             const ir::Target& target);

}  // namespace heddle::passes
