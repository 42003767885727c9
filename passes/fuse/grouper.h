#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/calls/epilogue_finder.h"
#include "passes/fuse/frontier.h"
#include "passes/fuse/grouping.h"
#include "passes/fuse/use_analysis.h"
#include "passes/groups/cost.h"
#include "passes/groups/epilogue.h"
#include "passes/groups/group.h"
#include "passes/groups/rotation.h"
#include "passes/groups/small_reductions.h"
#include "passes/plan/family.h"

namespace heddle::passes {

/// Limit on distinct index maps at which one kernel evaluates a node.
inline constexpr std::size_t max_maps = 16;

/// The same limit for values that a reduction reads which is computed as arithmetic.
inline constexpr std::size_t max_unrolled_maps = max_maps + 2 * most_unrolled;

/// The index maps at which a group reads a value.
struct Access {
  std::uint32_t group;
  std::vector<IndexMap> maps;        ///< at most `limit` + 1 are kept
  bool used_in_inner_loops = false;  ///< some use, direct or indirect, is inside the inner loops
  bool whole = false;                ///< some use reads arbitrary elements from memory
  std::size_t limit = max_maps;
};

/// Partitions a graph into groups, visiting users before operands. grouper.cpp implements the
/// visits, joins.cpp how nodes join kernel groups; library_groups.cpp, groups that are library
/// calls; transposed_calls.cpp, what follows a long transform; sibling_groups.cpp, siblings.
class Grouper {
 public:
  Grouper(const Graph& graph, const GroupOptions& options)
      : graph_(graph),
        options_(options),
        accesses_(graph.size()),
        is_output_(graph.size()),
        updated_(graph.size()),
        in_place_(
            find_updates_in_place(graph, options.donated, ir::capabilities_of(options.target))),
        reduction_paths_(find_reduction_paths(graph)),
        reductions_of_(count_reductions(graph)),
        recomputations_(find_recomputations(graph)),
        epilogues_(
            graph, options.target,
            {!is_disabled("epilogue"), options.strict, options.approximate, options.counter}),
        rates_(ir::capabilities_of(options.target).rates),
        frontiers_(graph, recomputations_, options.target),
        expecting_(graph.size(), none) {
    result_.space = std::make_shared<IndexSpace>();
    for (const ValueId output : graph.outputs) is_output_[index_of(output)] = true;
    for (std::size_t i = 0; i < families().size(); ++i) {
      const bool off = is_disabled(families()[i]->name());
      if (!off || i + 1 == families().size()) enabled_ |= 1u << i;
    }
  }

  Grouping run() {
    for (std::size_t i = graph_.size(); i-- > 0;) visit(ValueId(i));
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t none = ~0u;

  /// Result of analyse_uses() for a group: predictions about nodes not yet visited.
  struct Ahead {
    int looked_at = 0;  ///< the group's operations when analyse_uses() last ran
    std::unordered_set<std::uint32_t> kept_out;
    double bytes = 0;  ///< moved because of the fusion barriers, whose values are in kept_out
  };

  void visit(ValueId node);
  void place(ValueId node);
  void make_group(ValueId node);
  void make_library_group(ValueId call);
  void want_result(ValueId result);
  bool is_wanted(ValueId value) const;
  void read_arrays(ValueId call, std::uint32_t group);
  bool make_epilogue_group(ValueId node);
  bool is_transposed_call(ValueId value) const;
  bool is_read_across_items(ValueId value) const;
  std::optional<ValueId> transposed_call_below(ValueId value) const;
  std::optional<ir::Shape> rows_before_reshape(ValueId value) const;
  void explain_product(ValueId product);
  bool try_join(ValueId node, std::uint32_t group, bool stored);
  bool try_duplicate(ValueId node, const std::vector<std::uint32_t>& groups);
  bool try_sibling(ValueId node, const std::vector<std::uint32_t>& groups);
  std::optional<Candidate> sibling_candidate(ValueId node, const Group& group);
  bool reads_alike(ValueId node, const Candidate& candidate, std::uint32_t group);
  std::vector<std::uint32_t> groups_expecting_producers(ValueId node) const;
  bool joins_as_sibling(ValueId node, std::uint32_t group, bool alike);
  void analyse_uses(std::uint32_t group, bool begins);
  std::optional<Candidate> candidate(ValueId node, std::uint32_t group, bool unrolled,
                                     std::string& reason);
  /// Whether a reduction may be computed as arithmetic; whether that is better than a loop.
  bool unrolls(ValueId node) const;
  bool is_better_unrolled(const Group& group, const Candidate& candidate);
  bool reads_close_windows(const Candidate& candidate);
  /// Whether the candidate may join; if so, restricts the group to the families that accept it.
  bool accepts(std::uint32_t group, const Candidate& candidate, std::string& family,
               std::string& reason);
  bool stores_each_element_once(const Group& group, const Candidate& candidate);
  std::optional<Candidate> fit(Candidate candidate, const Group& group, std::string& reason);
  bool ask_families(Group& group, const Candidate& candidate, std::string& family,
                    std::string& reason);
  bool is_accepted_by(const Group& group, std::string_view family) const;
  /// `begins`: no member reads the node, so its operands may be new to the group.
  void add_member(std::uint32_t group, const Candidate& candidate, bool begins = false);
  /// `limit`: on the index maps of the operands.
  void read_operands(ValueId node, std::uint32_t group, const IndexMap& map,
                     bool used_in_inner_loops, std::size_t limit);
  void read_row(const Candidate& unrolled, std::uint32_t group);
  void read(ValueId value, std::uint32_t group, IndexMap map, bool used_in_inner_loops,
            std::size_t limit = max_maps);
  std::size_t limit_of(ValueId node, std::uint32_t group) const;
  void read_memory(ValueId value, std::uint32_t group);
  const Access& access(ValueId node, std::uint32_t group) const;
  bool becomes_row_value(ValueId node, const Group& group, IndexMap map);
  bool is_disabled(std::string_view name) const {
    return std::ranges::find(options_.disabled, name) != options_.disabled.end();
  }
  /// Whether reading the node is reading another value at other positions.
  bool is_view(ValueId node) const {
    return ir::is_view(graph_.op(node)) || rotation_of(graph_, node);
  }
  bool updates_in_place(ValueId node) const { return in_place_.updates[index_of(node)]; }
  bool is_stored_before(ValueId node) const { return in_place_.stored_before[index_of(node)]; }
  void cut(ValueId node, std::uint32_t group, std::string family, std::string reason) {
    result_.cuts.push_back({node, group, std::move(family), std::move(reason)});
  }

  const Graph& graph_;
  const GroupOptions& options_;
  Grouping result_;
  std::vector<std::vector<Access>> accesses_;
  std::vector<bool> is_output_;
  std::vector<bool> updated_;  ///< bases of in-place updates
  /// Needed further results, by call.
  std::unordered_map<std::uint32_t, std::vector<ValueId>> wanted_results_;
  const UpdatesInPlace in_place_;
  const std::vector<int> reduction_paths_;
  const std::vector<int> reductions_of_;  ///< by node: how many reductions read it
  const std::vector<Recomputation> recomputations_;
  const EpilogueFinder epilogues_;
  const ir::Rates rates_;
  FrontierFinder frontiers_;
  std::vector<Ahead> ahead_;              ///< per group
  std::vector<std::uint32_t> expecting_;  ///< by node: the group that will probably compute it
  std::uint32_t enabled_ = 0;
};

}  // namespace heddle::passes
