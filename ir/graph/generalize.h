#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// An extent as an argument: the leading one of an array without elements.
inline Type extent_argument(Dim extent) { return {DType::u8, {extent, 0}}; }

/// A graph taken apart: what it computes, and with which numbers. Graphs with one structure differ
/// only in their numbers, which stand in the same places of each. Constants of ops that are not
/// exactly rounded belong to the structure.
struct Outline {
  Hash128 structure;
  /// Constant extents of parameters and of attributes, constant starts, and sizes of steps.
  std::vector<std::int64_t> numbers;
  std::vector<ElementBits> constants;  ///< the value at each other use of a constant
  friend bool operator==(const Outline&, const Outline&) = default;
};
/// Of what the outputs need.
Outline outline_of(const Graph& graph);

/// One graph for many of one structure: what differs among them are symbols, and numbers that are
/// passed by value.
struct General {
  /// Its parameters are the example's, then an extent_argument() for each of `extents`, then a
  /// scalar for each of `scalars`.
  Graph graph;
  std::vector<std::size_t> extents;  ///< of Outline::numbers
  std::vector<std::size_t> scalars;  ///< of Outline::constants

  std::vector<Dim> numbers;  ///< Outline::numbers
  /// Outline::constants that are the same in all graphs; nullopt where they are passed by value:
  /// then `scalar_of` says as which of `scalars`.
  std::vector<std::optional<ElementBits>> constants;
  std::vector<std::size_t> scalar_of;
  std::vector<std::pair<SymbolId, std::size_t>> symbols;  ///< each is one of the numbers
};

/// The least general graph that stands for all outlines, which have the example's structure.
/// Nullopt where inference knows none, and for more than 16 symbols or 32 scalars: an extent that
/// two numbers share in each outline is one symbol. Found are a * x + b, sums, differences and
/// products of two, and that an extent, which may be the same in all, is the product of those that
/// a reshape makes of it; other relations are not.
std::optional<General> generalize(const Graph& example, std::span<const Outline> outlines);

/// Whether the general graph, with its symbols and scalars bound to the outline's numbers, is the
/// very graph that the outline is of. Their structures are the same.
bool stands_for(const General& general, const Outline& outline);

}  // namespace heddle::ir
