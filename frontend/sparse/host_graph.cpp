#include "frontend/sparse/host_graph.h"

#include <fmt/format.h>

#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"

namespace heddle::sparse::csgraph {

HostGraph host_graph(const char* name, const Csr& a, Weights weights, const SourceLocation& where) {
  if (a.shape[0] != a.shape[1]) {
    throw ShapeError(frontend::at(
        fmt::format("{}: the graph must be square, not [{}, {}]", name, a.shape[0], a.shape[1]),
        where));
  }
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace(name, where);
  HostGraph made{
      a.indptr.to_vector<std::int64_t>(where), a.indices.to_vector<std::int64_t>(where), {}};
  if (weights == Weights::read)
    made.weights = a.data.astype(DType::f64, where).to_vector<double>(where);
  return made;
}

void check_node(const char* name, std::int64_t node, const HostGraph& graph,
                const SourceLocation& where) {
  if (node >= 0 && node < graph.nodes()) return;
  throw IndexError(frontend::at(
      fmt::format("{}: there is no node {}, of {} nodes", name, node, graph.nodes()), where));
}

}  // namespace heddle::sparse::csgraph
