#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::ir {

/// The type of an argument that passes an extent: an empty array with that leading extent.
inline Type extent_argument(Dim extent) { return {DType::u8, {extent, 0}}; }

/// A graph, split into its structure and its numbers. Graphs of equal structure differ only in
/// their numbers, which stand at the same positions. Constants that are operands of ops that are
/// not exactly rounded belong to the structure.
struct ErasedSignature {
  Hash128 structure;
  /// Constant extents of parameters and attributes, constant starts, and sizes of steps other than
  /// 1.
  std::vector<std::int64_t> numbers;
  std::vector<ElementBits> constants;  ///< the values of the other constants, one for each use
  friend bool operator==(const ErasedSignature&, const ErasedSignature&) = default;
};
/// The outline of the nodes that outputs need, and of all parameters.
ErasedSignature erased_signature_of(const Graph& graph);

/// One graph that covers many graphs of one structure. Where those differ, it has symbols, and
/// scalar parameters passed by value.
struct SymbolicGraph {
  /// Its parameters are those of the example, then an extent_argument() for each of `extents`, then
  /// a scalar for each of `scalars`.
  Graph graph;
  std::vector<std::size_t> extents;  ///< indices into ErasedSignature::numbers
  std::vector<std::size_t> scalars;  ///< indices into ErasedSignature::constants

  std::vector<Dim> numbers;  ///< ErasedSignature::numbers as expressions of symbols
  /// ErasedSignature::constants that are equal in all graphs. nullopt: passed by value, as element
  /// scalar_of[i] of `scalars`.
  std::vector<std::optional<ElementBits>> constants;
  std::vector<std::size_t> scalar_of;
  /// Each symbol, with the index of the number that it stands for.
  std::vector<std::pair<SymbolId, std::size_t>> symbols;
};

/// The most specific general graph that covers all outlines, which have the example's structure.
/// nullopt if type inference fails on it, and for more than 16 symbols or 32 scalars. Extents that
/// are equal in each outline share a symbol. Recognised relations are a * x + b, sums, differences
/// and products of two numbers, and the products that a reshape splits or merges (even if their
/// value never changes). Other relations are not recognised.
std::optional<SymbolicGraph> generalize(const Graph& example,
                                        std::span<const ErasedSignature> outlines);

/// Whether the general graph, with symbols and scalars bound to the outline's numbers, is the graph
/// of the outline. Both must have the same structure.
bool covers_signature(const SymbolicGraph& general, const ErasedSignature& outline);

}  // namespace heddle::ir
