#include "passes/plan/numbers.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/error.h"

#include "ir/types/op.h"

namespace heddle::passes {

namespace {

using Replace = std::function<Dim(const PlanNumber&)>;

/// Copies a plan into another index space, with other numbers.
class Copy {
 public:
  Copy(const KernelPlan& plan, IndexSpace& space, const Replace& replace)
      : plan_(plan), from_(*plan.space), space_(space), replace_(replace), copy_(plan) {}

  KernelPlan run() {
    copy_.space = &space_;
    for (std::size_t i = 0; i < plan_.outer.size(); ++i) {
      const bool is_held = plan_.held > 0 && static_cast<int>(i) == plan_.held_loop;
      loop(copy_.outer[i], !is_held);
    }
    for (Loop& one : copy_.inner) loop(one, inner_is_free());
    if (copy_.items) items(*copy_.items);
    for (ElementLoop& one : copy_.element_loops) {
      if (one.length) one.length = factor(*one.length, true);
      if (one.atom) extents_[*one.atom] = *one.length;
    }
    copy_atoms();
    for (Loop& one : copy_.outer) one.atom = atoms_.at(one.atom);
    for (Loop& one : copy_.inner) one.atom = atoms_.at(one.atom);
    if (copy_.items) {
      for (ItemPhase& phase : copy_.items->phases) {
        for (Loop& one : phase.batch) one.atom = atoms_.at(one.atom);
        for (Loop& one : phase.loops) one.atom = atoms_.at(one.atom);
      }
    }
    for (Instruction& one : copy_.body) instruction(one);
    for (Store& store : copy_.stores) store.address = address(store.operand, store.address);
    for (ElementLoop& one : copy_.element_loops) {
      if (one.atom) one.atom = atoms_.at(*one.atom);
    }
    return std::move(copy_);
  }

 private:
  /// Whether no number in the plan follows from the number of inner iterations. A GPU's kernel
  /// divides it into parts itself.
  bool inner_is_free() const {
    const bool on_host = !plan_.host_passes.empty();
    return plan_.held == 0 && (plan_.split == 1 || !on_host) && plan_.least_part == 0 &&
           !plan_.parts_of && !plan_.look_back;
  }

  Dim number(const Dim& dim, bool is_extent = false, bool in_vectors = true) const {
    if (!dim.is_constant() && dim.is_non_positive()) return dim;  // symbols are not negative
    std::int64_t multiple = in_vectors ? plan_.vector : 1;
    while (!dim.divisible_by(multiple)) multiple /= 2;
    return replace_({dim, is_extent, multiple});
  }
  /// Whether the index may differ between the elements of a vector.
  bool in_vectors(const Index& index) const {
    std::set<AtomId> found;
    collect(index, found);
    return (!plan_.outer.empty() && found.contains(plan_.outer.back().atom)) ||
           (!plan_.inner.empty() && found.contains(plan_.inner.back().atom));
  }
  /// A number whose values 0, 1 and -1 have a meaning of their own.
  Dim factor(const Dim& dim, bool is_extent = false) const {
    const bool plain = dim == Dim(0) || dim.is_unit();
    return plain ? dim : number(dim, is_extent);
  }

  void loop(Loop& one, bool is_free) {
    const AtomId atom = one.atom;
    if (is_free) one.extent = factor(one.extent, true);
    extents_[atom] = one.extent;
  }

  void items(Items& items) {
    items.count = factor(items.count, true);
    for (ItemPhase& phase : items.phases) {
      for (Loop& one : phase.batch) loop(one, true);
      for (Loop& one : phase.loops) loop(one, false);
    }
  }

  void collect(const Index& index, std::set<AtomId>& found) const {
    for (const IndexTerm& term : index.terms) {
      if (found.insert(term.atom).second) collect(from_.atom(term.atom).numerator, found);
    }
  }

  /// In ascending order, so that the terms of an index keep their order. An atom's numerator has
  /// older atoms only.
  void copy_atoms() {
    std::set<AtomId> found;
    for (const auto& [loop, extent] : extents_) found.insert(loop);
    for (const Instruction& one : plan_.body) collect(one.address, found);
    for (const Store& store : plan_.stores) collect(store.address, found);
    for (const AtomId atom : found) atoms_[atom] = copied(atom);
  }

  AtomId copied(AtomId id) {
    const Atom& atom = from_.atom(id);
    switch (atom.kind) {
      case Atom::Kind::loop: {
        const auto extent = extents_.find(id);
        if (extent != extents_.end()) return space_.new_loop(extent->second);
        break;
      }
      case Atom::Kind::computed:
        return space_.computed(atom.value, atom.extent).terms.front().atom;
      case Atom::Kind::quotient:
      case Atom::Kind::remainder: {
        const Index numerator = index(atom.numerator);
        return space_.divided(atom.kind, numerator, factor(atom.divisor), atom.extent);
      }
      case Atom::Kind::gathered:
        break;
    }
    throw InternalError("an address of a kernel depends on what is no loop of it");
  }

  Index index(const Index& old) const {
    Index made{number(old.offset, false, in_vectors(old)), {}};
    for (const IndexTerm& term : old.terms)
      made.terms.push_back({atoms_.at(term.atom), factor(term.coefficient)});
    return made;
  }

  /// Numbers in addresses of an item's memory stay.
  Index address(int operand, const Index& old) const {
    if (operand < 0 || !plan_.operands[static_cast<std::size_t>(operand)].in_item())
      return index(old);
    Index made = old;
    for (IndexTerm& term : made.terms) term.atom = atoms_.at(term.atom);
    return made;
  }

  void instruction(Instruction& one) const {
    const bool in_vectors = this->in_vectors(one.address);
    one.address = address(one.operand, one.address);
    switch (one.kind) {
      case Instruction::Kind::within:
        one.begin = number(one.begin, false, in_vectors);
        one.step = factor(one.step);
        [[fallthrough]];
      case Instruction::Kind::position:
      case Instruction::Kind::bound:
      case Instruction::Kind::inside:
      case Instruction::Kind::search:
        one.end = number(one.end, false, in_vectors);
        break;
      case Instruction::Kind::array:
        for (Dim& extent : one.extents) extent = number(extent, false, in_vectors);
        break;
      default:
        break;
    }
  }

  const KernelPlan& plan_;
  const IndexSpace& from_;
  IndexSpace& space_;
  const Replace& replace_;
  KernelPlan copy_;
  std::map<AtomId, Dim> extents_;  ///< of loops, in the copy
  std::map<AtomId, AtomId> atoms_;
};

}  // namespace

std::optional<KernelPlan> with_numbers(const KernelPlan& plan, IndexSpace& space,
                                       const Replace& replace) {
  if (!plan.has_loops()) return std::nullopt;
  return Copy(plan, space, replace).run();
}

std::vector<int> constant_arguments(const KernelPlan& plan) {
  std::vector<bool> suits(plan.body.size());
  for (std::size_t i = 0; i < plan.body.size(); ++i)
    suits[i] = plan.body[i].kind == Instruction::Kind::constant;
  for (const Instruction& user : plan.body) {
    if (user.kind != Instruction::Kind::apply) continue;
    const ir::OpInfo& op = ir::info(user.op);
    for (const int argument : user.arguments) {
      const DType dtype = plan.body[static_cast<std::size_t>(argument)].dtype;
      if (!op.is_exact(dtype) || !op.is_exact(user.dtype)) suits[argument] = false;
    }
  }
  std::vector<int> found;
  for (std::size_t i = 0; i < suits.size(); ++i) {
    if (suits[i]) found.push_back(static_cast<int>(i));
  }
  return found;
}

}  // namespace heddle::passes
