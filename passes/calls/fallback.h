#pragma once

#include <memory>

#include "passes/groups/group.h"

namespace heddle::passes {

/// The kernel for what follows a product that is in memory, for when the library refuses to do that
/// itself. `enabled` are the families that it may be of, as in Group::families; null where none of
/// them takes it.
std::shared_ptr<const Group> fallback_kernel(const Graph& graph, IndexSpace& space,
                                             const Epilogue& epilogue, std::uint32_t enabled,
                                             const ir::Target& target);

}  // namespace heddle::passes
