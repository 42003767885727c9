#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/sparse.h"

namespace heddle::sparse::csgraph {

/// Stands for no node, as in SciPy.
constexpr std::int32_t no_node = -9999;

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A graph in host memory.
struct HostGraph {
  std::vector<std::int64_t> indptr, indices;
  std::vector<double> weights;  // empty if only edges count

  std::int64_t nodes() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
  std::span<const std::int64_t> neighbours(std::int64_t node) const {
    const auto first = at(indptr[at(node)]), last = at(indptr[at(node) + 1]);
    return std::span(indices).subspan(first, last - first);
  }
};

enum class Weights : std::uint8_t { read, ignored };

/// Copies a graph. `name` is the function's, for errors: ShapeError if the matrix is not square,
/// TraceError inside a trace.
HostGraph host_graph(const char* name, const Csr& a, Weights weights, const SourceLocation& where);

/// Throws IndexError unless the graph has the node.
void check_node(const char* name, std::int64_t node, const HostGraph& graph,
                const SourceLocation& where);

}  // namespace heddle::sparse::csgraph
