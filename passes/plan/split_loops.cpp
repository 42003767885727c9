#include "passes/plan/split_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "passes/plan/details.h"

namespace heddle::passes {

namespace {

bool divides(const Atom& atom) {
  return atom.kind == Atom::Kind::quotient || atom.kind == Atom::Kind::remainder;
}

/// Looks for the greatest divisor of quotients and remainders of a loop itself that makes two
/// loops, of which the second is not short.
class Divisors {
 public:
  Divisors(const IndexSpace& space, const Loop& loop) : space_(space), loop_(loop) {}

  void add(const Index& index) {
    constexpr std::int64_t shortest_run = 8;
    for (const IndexTerm& term : index.terms) {
      const Atom& atom = space_.atom(term.atom);
      if (!divides(atom) || !std::ranges::binary_search(atom.loops, loop_.atom)) continue;
      if (!seen_.insert(term.atom).second) continue;  // atoms share the atoms inside them
      add(atom.numerator);
      if (!(atom.numerator == space_.loop(loop_.atom)) || !atom.divisor.is_constant()) continue;
      const std::int64_t divisor = atom.divisor.constant(), extent = loop_.extent.constant();
      if (divisor >= shortest_run && divisor < extent && extent % divisor == 0)
        greatest_ = std::max(greatest_, divisor);
    }
  }
  /// 0 if there is none.
  std::int64_t greatest() const { return greatest_; }

 private:
  const IndexSpace& space_;
  const Loop& loop_;
  std::unordered_set<AtomId> seen_;
  std::int64_t greatest_ = 0;
};

/// Replaces a loop in indices by an index of other loops.
class Replacement {
 public:
  Replacement(IndexSpace& space, AtomId loop, const Index& by) : space_(space) { made_[loop] = by; }

  Index of(const Index& index) {
    Index result{index.offset, {}};
    for (const IndexTerm& term : index.terms)
      result = space_.add(result, space_.scale(of(term.atom), term.coefficient));
    return result;
  }

 private:
  const Index& of(AtomId id) {
    if (const auto found = made_.find(id); found != made_.end()) return found->second;
    Index made{0, {{id, 1}}};
    const Atom atom = space_.atom(id);  // a copy: divisions add atoms
    if (divides(atom)) {
      const Index numerator = of(atom.numerator);
      if (!(numerator == atom.numerator)) {
        made = atom.kind == Atom::Kind::quotient ? space_.divide(numerator, atom.divisor)
                                                 : space_.modulo(numerator, atom.divisor);
      }
    }
    return made_[id] = std::move(made);
  }

  IndexSpace& space_;
  std::unordered_map<AtomId, Index> made_;
};

/// The divisor by which the last loop is to be split; 0 if there is none.
std::int64_t last_divisor(const KernelPlan& plan, const IndexSpace& space) {
  const Loop& loop = plan.outer.back();
  if (!loop.extent.is_constant()) return 0;
  Divisors divisors(space, loop);
  for (const Instruction& one : plan.body) divisors.add(one.address);
  for (const Store& one : plan.stores) divisors.add(one.address);
  return divisors.greatest();
}

void split(KernelPlan& plan, IndexSpace& space, std::int64_t divisor) {
  const Loop loop = plan.outer.back();
  const Dim count = loop.extent.constant() / divisor;
  const Loop across{space.new_loop(count), count}, along{space.new_loop(divisor), divisor};
  const Index by = space.add(space.scale(space.loop(across.atom), divisor), space.loop(along.atom));
  Replacement replacement(space, loop.atom, by);
  for (Instruction& one : plan.body) one.address = replacement.of(one.address);
  for (Store& one : plan.stores) one.address = replacement.of(one.address);
  plan.outer.back() = across;
  plan.outer.push_back(along);
}

}  // namespace

std::optional<OwnPlan> split_last_loop(const KernelPlan& plan) {
  const bool elements = plan.mapping == Mapping::elements && plan.element_loops.empty();
  if (!elements || plan.outer.empty()) return std::nullopt;
  std::int64_t divisor = last_divisor(plan, *plan.space);
  if (divisor == 0) return std::nullopt;
  OwnPlan made{std::make_unique<IndexSpace>(*plan.space), plan};
  made.plan.space = made.space.get();
  for (; divisor > 0; divisor = last_divisor(made.plan, *made.space))
    split(made.plan, *made.space, divisor);
  made.plan.host_passes = host_passes(made.plan);
  return made;
}

}  // namespace heddle::passes
