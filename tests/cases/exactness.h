#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::test {

/// What every target gives alike of a value.
enum class Exactness : std::uint8_t {
  none,
  values,  ///< but zeros may have either sign
  bits     ///< but NaNs may
};
/// Per node, as every op that it depends on lets it be: with `contracts` a product may be
/// contracted into what adds it, and with `fixed_order` sums and products of floats are combined in
/// one order.
std::vector<Exactness> exact_nodes(const ir::Graph& graph, bool contracts, bool fixed_order);

}  // namespace heddle::test
