#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "passes/fuse/grouper.h"
#include "passes/fuse/loop_nest_match.h"
#include "passes/groups/index_maps.h"
#include "passes/groups/small_reductions.h"
#include "passes/plan/families.h"

namespace heddle::passes {

bool Grouper::try_join(ValueId node, std::uint32_t id, bool stored) {
  std::string family, reason;
  if (result_.groups[id].library) {
    cut(node, id, "library", "a library step reads it from memory");
    return false;
  }
  if (id < ahead_.size() && ahead_[id].kept_out.contains(index_of(node))) {
    const std::size_t kept_out = ahead_[id].kept_out.size();
    cut(node, id, "pointwise",
        fmt::format("the kernel would exceed {} operations or {} operands; a fusion barrier here "
                    "stores {}, which moves {:.0f} bytes",
                    max_operations, max_operands,
                    kept_out == 1 ? "1 value" : fmt::format("{} values", kept_out),
                    ahead_[id].bytes));
    return false;
  }
  if (access(node, id).whole) {
    cut(node, id, "pointwise", "a search reads it from memory");
    return false;
  }
  family = "generic";
  std::optional<Candidate> loop = candidate(node, id, false, reason);
  const auto joins = [&](std::optional<Candidate> joined, std::string& nearest, std::string& why) {
    if (!joined) return false;
    joined->stored = stored;
    if (!accepts(id, *joined, nearest, why)) return false;
    add_member(id, *joined);
    return true;
  };
  const auto joins_unrolled = [&] {
    std::string nearest, why;  // the loop's are told
    return unrolls(node) && joins(candidate(node, id, true, why), nearest, why);
  };
  const bool unrolled_first = loop && is_better_unrolled(result_.groups[id], *loop);
  if (unrolled_first && joins_unrolled()) return true;
  if (joins(std::move(loop), family, reason)) return true;
  if (!unrolled_first && joins_unrolled()) return true;
  cut(node, id, family, reason);
  return false;
}

bool Grouper::unrolls(ValueId node) const {
  return can_unroll(graph_, node) && !is_disabled("small_reductions");
}

// Few rows of a reduction along columns leave most threads of a block idle. Without blocks, windows
// that lie close together are best read in vectors over many of them. What is computed for each row
// would be there once for each of them.
bool Grouper::is_better_unrolled(const Group& group, const Candidate& candidate) {
  constexpr std::int64_t few = 16, short_text = 64;
  if (candidate.unrolled || !unrolls(candidate.node)) return false;
  const std::int64_t rows = row_elements(graph_, candidate.node);
  return group.inner.empty() && candidate.new_outer.size() == group.outer.size() && rows <= few &&
         rows * (1 + operations_behind(graph_, candidate.node, short_text)) <= short_text &&
         ((candidate.columnwise && !candidate.contiguous) || reads_close_windows(candidate));
}

/// Whether neighbouring results of the reduction read elements of an array in memory that lie
/// closer together than one after the other's row, so that vectors of elements serve several
/// results. Not if several reductions share a loop over the rows, or elements are computed: guarded
/// loads, as of padding, are not made in vectors, and would keep what follows the reduction from
/// it.
bool Grouper::reads_close_windows(const Candidate& candidate) {
  constexpr std::int64_t farthest = 4;
  const bool finds_index = ir::finds_index(graph_.op(candidate.node));
  if (ir::capabilities_of(options_.target).blocks || finds_index || candidate.new_outer.empty() ||
      reductions_of_[index_of(graph_.operands(candidate.node)[0])] > 1)
    return false;
  ValueId read = candidate.node;
  IndexMap map = candidate.maps[0];
  do {
    map = operand_map(*result_.space, graph_, read, 0, map, candidate.new_inner);
    read = graph_.operands(read)[0];
  } while (ir::is_view(graph_.op(read)) && !is_output_[index_of(read)]);
  if (graph_.op(read) != ir::Op::parameter && !is_output_[index_of(read)]) return false;
  const Index address = linear_index(*result_.space, map, graph_.shape(read));
  const Dim step = result_.space->coefficient(address, candidate.new_outer.back());
  return step.is_constant() && step.constant() > 0 &&
         step.constant() < std::min(farthest, row_elements(graph_, candidate.node));
}

bool Grouper::accepts(std::uint32_t id, const Candidate& candidate, std::string& family,
                      std::string& reason) {
  Group& group = result_.groups[id];
  family = "pointwise";
  if (candidate.stored && !stores_each_element_once(group, candidate)) {
    reason =
        "other users need it in memory, but this kernel does not visit each element exactly once";
    return false;
  }
  if (!recomputing_pays(graph_, *result_.space, group, candidate, recomputations_,
                        options_.target) &&
      (candidate.unrolled || !becomes_row_value(candidate.node, group, candidate.maps[0]))) {
    reason = "each element would be recomputed " + std::to_string(candidate.maps.size()) +
             " or more times, which costs more than storing it";
    return false;
  }
  return ask_families(group, candidate, family, reason);
}

bool Grouper::stores_each_element_once(const Group& group, const Candidate& candidate) {
  const ir::Op op = graph_.op(candidate.node);
  const bool scans = ir::is_scan(op), reduces = ir::is_reduction(op) && !candidate.unrolled;
  std::vector<AtomId> loops =
      scans || !candidate.new_outer.empty() ? candidate.new_outer : group.outer;
  const std::vector<AtomId>& inner = scans ? candidate.new_inner : group.inner;
  const auto visits_all = [&] {
    return candidate.maps.size() == 1 &&
           is_bijective(*result_.space, candidate.maps[0], graph_.shape(candidate.node), loops);
  };
  if (visits_all()) return true;
  if (reduces || inner.empty() || group.segments) return false;
  loops.insert(loops.end(), inner.begin(), inner.end());
  return visits_all();
}

// If the node reads no more bytes than its own size, computing it again in every group moves fewer
// bytes than storing it.
bool Grouper::try_duplicate(ValueId node, const std::vector<std::uint32_t>& groups) {
  const ir::Op op = graph_.op(node);
  const bool source = op == ir::Op::iota || op == ir::Op::constant;
  const bool pays =
      duplicating_pays(recomputations_[index_of(node)], graph_.dtype(node), groups.size(), rates_);
  const bool repeatable = ir::is_elementwise(op) || op == ir::Op::cast;
  if (!source && !(pays && repeatable)) return false;
  std::vector<Candidate> joined;
  std::string family, reason;
  for (const std::uint32_t id : groups) {
    std::optional<Candidate> one = candidate(node, id, false, reason);
    Group trial = result_.groups[id];
    if (trial.library || !one ||
        !recomputing_pays(graph_, *result_.space, trial, *one, recomputations_, options_.target))
      return false;
    if (!ask_families(trial, *one, family, reason)) return false;
    joined.push_back(std::move(*one));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ask_families(result_.groups[groups[i]], joined[i], family, reason);
    add_member(groups[i], joined[i]);
  }
  return true;
}

std::optional<Candidate> Grouper::candidate(ValueId node, std::uint32_t id, bool unrolled,
                                            std::string& reason) {
  Candidate result;
  result.node = node;
  result.unrolled = unrolled;
  const Group& group = result_.groups[id];
  const Access& uses = access(node, id);
  result.maps = uses.maps;
  result.used_in_inner_loops = uses.used_in_inner_loops;
  if (result.maps.size() > uses.limit) {
    reason = "it is read at more than " + std::to_string(uses.limit) + " different positions";
    return std::nullopt;
  }
  return fit(std::move(result), group, reason);
}

std::optional<Candidate> Grouper::fit(Candidate candidate, const Group& group,
                                      std::string& reason) {
  const ir::Op op = graph_.op(candidate.node);
  IndexSpace& space = *result_.space;
  if (ir::is_scan(op)) return match_scan(graph_, space, group, std::move(candidate), reason);
  if (!ir::is_reduction(op) || candidate.unrolled) return candidate;
  return match_reduction(graph_, space, group, std::move(candidate), reason);
}

bool Grouper::is_accepted_by(const Group& group, std::string_view family) const {
  for (std::size_t i = 0; i < families().size(); ++i) {
    if (families()[i]->name() == family) return (group.families >> i & 1) != 0;
  }
  return false;
}

bool Grouper::ask_families(Group& group, const Candidate& candidate, std::string& family,
                           std::string& reason) {
  std::uint32_t accepting = 0;
  for (std::size_t i = 0; i < families().size(); ++i) {
    if ((group.families >> i & 1) == 0) continue;
    const Verdict verdict = families()[i]->extend(graph_, group, candidate, options_.target);
    if (verdict.accepted) {
      accepting |= 1u << i;
    } else if (reason.empty() || i + 1 < families().size()) {
      family = families()[i]->name();
      reason = verdict.reason;
    }
  }
  if (accepting != 0) group.families = accepting;
  return accepting != 0;
}

// Whether a value depends on a reduction over exactly the loops that the value does not vary along.
// Once the reduction has joined, the value is computed once for each row, so it is accepted in
// advance.
bool Grouper::becomes_row_value(ValueId node, const Group& group, IndexMap map) {
  if (!group.inner.empty() || reduction_paths_[index_of(node)] < 0) return false;
  while (!ir::is_reduction(graph_.op(node))) {
    const int k = reduction_paths_[index_of(node)];
    map = operand_map(*result_.space, graph_, node, static_cast<std::size_t>(k), map);
    node = graph_.operands(node)[static_cast<std::size_t>(k)];
  }
  Candidate reduction;
  reduction.node = node;
  reduction.maps = {std::move(map)};
  std::string family, reason;
  const std::optional<Candidate> fitted = fit(std::move(reduction), group, reason);
  Group trial = group;
  return fitted && ask_families(trial, *fitted, family, reason);
}

}  // namespace heddle::passes
