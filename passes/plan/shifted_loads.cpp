#include "passes/plan/shifted_loads.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "passes/plan/analyze.h"

namespace heddle::passes {

namespace {

/// The constant by which two addresses differ; nullopt if they differ otherwise.
std::optional<std::int64_t> distance(const Index& address, const Index& base) {
  if (address.terms != base.terms) return std::nullopt;
  const Dim offset = address.offset - base.offset;
  return offset.is_constant() ? std::optional(offset.constant()) : std::nullopt;
}

/// An address without the wrapping of one index around the end of its axis, as roll makes it.
struct Unwrapped {
  Index address;
  Index index;  ///< before it was wrapped
  Dim extent;
};

std::optional<Unwrapped> unwrapped(const IndexSpace& space, const Index& address,
                                   const Loop& loop) {
  for (const IndexTerm& term : address.terms) {
    const Atom& atom = space.atom(term.atom);
    if (atom.kind != Atom::Kind::remainder || !(term.coefficient == Dim(1)) ||
        !std::ranges::binary_search(atom.loops, loop.atom))
      continue;
    Index rest = address;
    std::erase_if(rest.terms, [&](const IndexTerm& one) { return one.atom == term.atom; });
    return Unwrapped{space.add(rest, atom.numerator), atom.numerator, atom.divisor};
  }
  return std::nullopt;
}

/// How far the load's elements lie behind those of a vector load of the same array. Where both are
/// of the same row, the wrapped index of one is that of the other.
std::optional<std::int64_t> shift_from(const KernelPlan& plan, const Index& address,
                                       const Index& vector, const Loop& loop) {
  const std::optional<Unwrapped> straight = unwrapped(*plan.space, address, loop);
  const std::optional<std::int64_t> shift =
      distance(straight ? straight->address : address, vector);
  if (!shift || !straight) return shift;
  // A loop over several rows: a vector must not contain elements of two of them.
  if (!straight->extent.is_constant() || (plan.space->nested(straight->index, loop.atom) &&
                                          straight->extent.constant() % plan.vector != 0))
    return std::nullopt;
  Index index = straight->index;
  index.offset = index.offset - Dim(*shift);
  if (!plan.space->in_range(index, straight->extent)) return std::nullopt;
  const std::int64_t around = *shift - straight->extent.constant();
  return std::abs(around) < std::abs(*shift) ? around : *shift;
}

bool is_plain_load(const Instruction& one) {
  return one.kind == Instruction::Kind::load && one.arguments.empty() && !one.held;
}

}  // namespace

void share_shifted_vectors(KernelPlan& plan) {
  if (plan.mapping != Mapping::elements || plan.vector == 1 || plan.outer.empty()) return;
  const Loop& last = plan.outer.back();
  const auto is_vector = [&](const Instruction& load) {
    return is_plain_load(load) && vector_width(plan, load, last, plan.vector) == plan.vector;
  };
  for (Instruction& load : plan.body) {
    if (!is_plain_load(load) || is_vector(load)) continue;
    const auto find = [&](const auto& accepts) {
      for (std::size_t i = 0; i < plan.body.size(); ++i) {
        const Instruction& vector = plan.body[i];
        if (vector.operand == load.operand && is_vector(vector) && accepts(vector))
          return static_cast<int>(i);
      }
      return -1;
    };
    load.shifted_from = find([&](const Instruction& vector) {
      const auto shift = shift_from(plan, load.address, vector.address, last);
      if (!shift || *shift == 0 || std::abs(*shift) >= plan.vector) return false;
      load.shift = static_cast<int>(*shift);
      return true;
    });
    if (load.shifted_from < 0) continue;
    const int around = load.shift > 0 ? load.shift - plan.vector : load.shift + plan.vector;
    load.shifted_rest = find([&](const Instruction& vector) {
      return distance(load.address, vector.address) == around;
    });
  }
}

}  // namespace heddle::passes
