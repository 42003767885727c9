#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/sparse.h"

#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"

namespace heddle::sparse {

namespace {

/// Tarjan's algorithm without recursion. A component gets its number when the search leaves its
/// first node, so components that it leads to have lower numbers. Edges are followed from the last
/// one of a row to the first, as in SciPy, which numbers components in the same order.
class StrongComponents {
 public:
  StrongComponents(std::vector<std::int64_t> indptr, std::vector<std::int64_t> indices)
      : indptr_(std::move(indptr)),
        indices_(std::move(indices)),
        lowest_(indptr_.size() - 1, unseen),
        component_(indptr_.size() - 1, unseen) {}

  std::vector<std::int32_t> find() {
    for (std::size_t node = 0; node < lowest_.size(); ++node)
      if (lowest_[node] == unseen) search(static_cast<std::int64_t>(node));
    return std::move(component_);
  }

 private:
  static constexpr std::int32_t unseen = -1;

  struct Visit {
    std::int64_t node, edge;  // edges from `edge` on were followed
    std::int32_t order;
  };

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  void enter(std::int64_t node) {
    path_.push_back({node, indptr_[at(node) + 1], next_order_});
    lowest_[at(node)] = next_order_++;
    open_.push_back(node);
  }

  void search(std::int64_t first) {
    enter(first);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      if (visit.edge == indptr_[at(visit.node)]) {
        leave();
        continue;
      }
      const std::int64_t next = indices_[at(--visit.edge)];
      if (lowest_[at(next)] == unseen) {
        enter(next);  // `visit` may be gone
      } else if (component_[at(next)] == unseen) {
        lowest_[at(visit.node)] = std::min(lowest_[at(visit.node)], lowest_[at(next)]);
      }
    }
  }

  void leave() {
    const Visit visit = path_.back();
    path_.pop_back();
    const std::int32_t lowest = lowest_[at(visit.node)];
    if (lowest == visit.order) close(visit.node);
    if (path_.empty()) return;
    std::int32_t& before = lowest_[at(path_.back().node)];
    before = std::min(before, lowest);
  }

  /// The nodes above `node` on the stack are one component.
  void close(std::int64_t node) {
    for (std::int64_t member = -1; member != node;) {
      member = open_.back();
      open_.pop_back();
      component_[at(member)] = count_;
    }
    ++count_;
  }

  std::vector<std::int64_t> indptr_, indices_;
  std::vector<std::int32_t> lowest_;     // the lowest order that is known to be in reach
  std::vector<std::int32_t> component_;  // unseen: still open
  std::vector<Visit> path_;              // from the first node to the current one
  std::vector<std::int64_t> open_;       // nodes without a component, in order of visits
  std::int32_t next_order_ = 0, count_ = 0;
};

}  // namespace

Array strong_components(const Csr& a, SourceLocation where) {
  if (a.shape[0] != a.shape[1]) {
    throw ShapeError(frontend::at(fmt::format("strong_components: the graph must be square, not "
                                              "[{}, {}]",
                                              a.shape[0], a.shape[1]),
                                  where));
  }
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("strong_components", where);
  StrongComponents graph(a.indptr.to_vector<std::int64_t>(where),
                         a.indices.to_vector<std::int64_t>(where));
  return array(graph.find());
}

}  // namespace heddle::sparse
