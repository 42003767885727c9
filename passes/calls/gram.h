#pragma once

#include <optional>

#include "passes/calls/lowering.h"

namespace heddle::passes {

/// The products of the transposes of long matrices with long matrices, each as a sum of products of
/// parts of its rows, whose number fills a GPU. Nullopt if a library should multiply.
std::optional<ValueId> lower_gram(Graph& graph, ValueId a, ValueId b, const ir::Target& target,
                                  ir::Location location);
std::optional<ItemCall> gram_item(const Graph& graph, ValueId call, const ir::Target& target);
/// Of one triangle of each product of a matrix with itself.
Dim gram_flops(const Graph& graph, ValueId call);

}  // namespace heddle::passes
