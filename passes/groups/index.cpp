#include "passes/groups/index.h"

#include <algorithm>

#include "heddle/error.h"

#include "ir/types/dim_division.h"

namespace heddle::passes {

std::string text_of(const Index& index) {
  std::string text = index.offset.to_string();
  for (const IndexTerm& term : index.terms) {
    text += '|' + term.coefficient.to_string() + '@' +
            std::to_string(static_cast<std::uint32_t>(term.atom));
  }
  return text;
}

AtomId IndexSpace::new_loop(Dim extent) {
  atoms_.push_back({Atom::Kind::loop, extent, {}, 1});
  return AtomId(atoms_.size() - 1);
}

Index IndexSpace::gathered(std::uint32_t node, IndexMap map, Dim extent) {
  Atom atom{Atom::Kind::gathered, extent, {}, 1, node, std::move(map)};
  atom.by_value = true;
  return {0, {{intern(std::move(atom)), 1}}};
}

Index IndexSpace::computed(std::uint32_t instruction, Dim extent) {
  Atom atom{Atom::Kind::computed, extent, {}, 1, instruction};
  atom.by_value = true;
  atoms_.push_back(std::move(atom));
  return {0, {{AtomId(atoms_.size() - 1), 1}}};
}

namespace {

std::string key_of(const Atom& atom) {
  if (atom.kind != Atom::Kind::gathered) {
    const char* sign = atom.kind == Atom::Kind::quotient ? "/" : "%";
    return sign + atom.divisor.to_string() + ':' + text_of(atom.numerator);
  }
  std::string key = 'v' + std::to_string(atom.value) + '<' + atom.extent.to_string();
  for (const Index& index : atom.map) key += ';' + text_of(index);
  return key;
}

}  // namespace

AtomId IndexSpace::intern(Atom atom) {
  const auto [entry, is_new] = interned_.try_emplace(key_of(atom), AtomId(atoms_.size()));
  if (is_new) {
    collect_loops(atom.numerator, atom.loops);
    for (const Index& index : atom.map) collect_loops(index, atom.loops);
    std::sort(atom.loops.begin(), atom.loops.end());
    atom.by_value |= is_by_value(atom.numerator);
    atoms_.push_back(std::move(atom));
  }
  return entry->second;
}

Index IndexSpace::loop(AtomId id) const {
  if (atom(id).extent == Dim(1)) return {};
  return {0, {{id, 1}}};
}

Index IndexSpace::add(const Index& a, const Index& b) const {
  Index sum{a.offset + b.offset, {}};
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() || (left != a.terms.end() && left->atom < right->atom)) {
      sum.terms.push_back(*left++);
    } else if (left == a.terms.end() || right->atom < left->atom) {
      sum.terms.push_back(*right++);
    } else {
      const Dim coefficient = left->coefficient + right->coefficient;
      if (!(coefficient == Dim(0))) sum.terms.push_back({left->atom, coefficient});
      ++left, ++right;
    }
  }
  return normalized(std::move(sum));
}

Index IndexSpace::scale(const Index& a, Dim factor) const {
  if (factor == Dim(0)) return {};
  Index product{a.offset * factor, a.terms};
  for (IndexTerm& term : product.terms) term.coefficient *= factor;
  return product;
}

// Replaces c * (x % d) + c * d * (x / d) by c * x.
Index IndexSpace::normalized(Index index) const {
  for (const IndexTerm& remainder : index.terms) {
    const Atom& r = atom(remainder.atom);
    if (r.kind != Atom::Kind::remainder) continue;
    for (const IndexTerm& quotient : index.terms) {
      const Atom& q = atom(quotient.atom);
      if (q.kind != Atom::Kind::quotient || !(q.divisor == r.divisor) ||
          !(q.numerator == r.numerator) ||
          !(quotient.coefficient == remainder.coefficient * r.divisor)) {
        continue;
      }
      const Index whole = scale(r.numerator, remainder.coefficient);
      Index rest{index.offset, {}};
      for (const IndexTerm& term : index.terms) {
        if (term.atom != remainder.atom && term.atom != quotient.atom) rest.terms.push_back(term);
      }
      return add(rest, whole);
    }
  }
  return index;
}

std::optional<IndexSpace::Range> IndexSpace::range(const Index& index) const {
  if (!index.offset.is_constant()) return std::nullopt;
  Range range{index.offset.constant(), index.offset.constant()};
  for (const IndexTerm& term : index.terms) {
    const Dim extent = atom(term.atom).extent;
    if (!extent.is_constant() || !term.coefficient.is_constant()) return std::nullopt;
    const std::int64_t reach =
        term.coefficient.constant() * std::max<std::int64_t>(extent.constant() - 1, 0);
    (reach < 0 ? range.minimum : range.maximum) += reach;
  }
  return range;
}

namespace {

/// Whether the coefficient is at most 0 for all values of the symbols.
bool decreases(const IndexTerm& term) { return (Dim(0) - term.coefficient).is_non_negative(); }

}  // namespace

bool IndexSpace::in_range(const Index& index, Dim extent) const {
  if (const std::optional<Range> known = range(index); known && extent.is_constant()) {
    return known->minimum >= 0 && known->maximum < extent.constant();
  }
  Dim maximum = index.offset;
  Dim minimum = index.offset;
  for (const IndexTerm& term : index.terms) {
    const Dim reach = term.coefficient * (atom(term.atom).extent - Dim(1));
    if (term.coefficient.is_non_negative()) {
      maximum += reach;
    } else if (decreases(term)) {
      minimum += reach;
    } else {
      return false;
    }
  }
  return minimum.is_non_negative() && (extent - Dim(1) - maximum).is_non_negative();
}

namespace {

/// index == divisor * whole + part.
struct Division {
  Index whole, part;
};

/// Divides the offset and each coefficient. By constants, 38 is 2 * 18 + 2, and 17 is 0 * 18 + 17
/// or, if `nearest`, 1 * 18 - 1. By symbols, n + 5 is not divided or, if `nearest`, 1 * (n + 4)
/// + 1.
Division split(const Index& index, Dim divisor, bool nearest) {
  Division result;
  const auto quotient = [&](Dim value) -> std::optional<Dim> {
    if (const auto exact = value.exact_quotient(divisor)) return exact;
    if (!divisor.is_constant())
      return nearest ? ir::divide_polynomials(value, divisor).quotient : Dim(0);
    const std::int64_t by = divisor.constant();
    if (!value.is_constant() || value.constant() < 0) return std::nullopt;
    const std::int64_t whole = value.constant() / by, part = value.constant() % by;
    return whole + (nearest && part > by / 2 ? 1 : 0);
  };
  const auto divide = [&](Dim value, const auto& put) {
    const Dim whole = quotient(value).value_or(0);
    put(whole, value - whole * divisor);
  };
  divide(index.offset, [&](Dim whole, Dim part) {
    result.whole.offset = whole;
    result.part.offset = part;
  });
  for (const IndexTerm& term : index.terms) {
    divide(term.coefficient, [&](Dim whole, Dim part) {
      if (!(whole == Dim(0))) result.whole.terms.push_back({term.atom, whole});
      if (!(part == Dim(0))) result.part.terms.push_back({term.atom, part});
    });
  }
  return result;
}

/// The division whose part is in range, if there is one.
Division split_in_range(const IndexSpace& space, const Index& index, Dim divisor) {
  Division nearest = split(index, divisor, true);
  return space.in_range(nearest.part, divisor) ? nearest : split(index, divisor, false);
}

}  // namespace

Index IndexSpace::divide(const Index& a, Dim divisor) {
  if (divisor == Dim(1)) return a;
  if (in_range(a, divisor)) return {};
  Division division = split_in_range(*this, a, divisor);
  if (!in_range(division.part, divisor)) {
    // The part may be negative or exceed the divisor, so it cannot be dropped. If it is known to be
    // non-negative, only the part is divided; otherwise all of `a` becomes the numerator of one
    // quotient.
    const bool separable = in_range(division.part, division.part.offset + Dim(1)) ||
                           (range(division.part) && range(division.part)->minimum >= 0);
    const Index numerator = separable ? division.part : a;
    Dim extent = 1;
    if (const auto known = range(numerator); known && divisor.is_constant()) {
      extent = known->maximum / divisor.constant() + 1;
    } else {
      Dim reach = numerator.offset + Dim(1);
      for (const IndexTerm& term : numerator.terms) {
        if (!decreases(term)) reach += term.coefficient * atom(term.atom).extent;
      }
      extent = reach.exact_quotient(divisor).value_or(reach);
    }
    const Index quotient{0, {{intern({Atom::Kind::quotient, extent, numerator, divisor}), 1}}};
    return separable ? add(division.whole, quotient) : quotient;
  }
  return normalized(std::move(division.whole));
}

namespace {

/// (x % d + y) % d is (x + y) % d. Only for x < 2 * d, as rotations make it: other remainders are
/// expensive, and may be needed elsewhere.
Index without_inner_remainders(const IndexSpace& space, const Index& index, Dim divisor) {
  for (const IndexTerm& term : index.terms) {
    const Atom& inside = space.atom(term.atom);
    if (inside.kind != Atom::Kind::remainder || !(inside.divisor == divisor) ||
        !(term.coefficient == Dim(1)) || !space.in_range(inside.numerator, divisor + divisor))
      continue;
    Index rest = index;
    std::erase(rest.terms, term);
    return without_inner_remainders(space, space.add(rest, inside.numerator), divisor);
  }
  return index;
}

}  // namespace

Index IndexSpace::modulo(const Index& index, Dim divisor) {
  if (divisor == Dim(1)) return {};
  if (in_range(index, divisor)) return index;
  const Index a = without_inner_remainders(*this, index, divisor);
  if (in_range(a, divisor)) return a;
  Division division = split_in_range(*this, a, divisor);
  if (in_range(division.part, divisor)) return division.part;
  const bool separable = range(division.part) && range(division.part)->minimum >= 0;
  return {0,
          {{intern({Atom::Kind::remainder, divisor, separable ? division.part : a, divisor}), 1}}};
}

AtomId IndexSpace::divided(Atom::Kind kind, const Index& numerator, Dim divisor, Dim extent) {
  return intern({kind, extent, numerator, divisor});
}

void IndexSpace::collect_loops(const Index& index, std::vector<AtomId>& loops) const {
  for (const IndexTerm& term : index.terms) {
    const Atom& a = atom(term.atom);
    const std::span<const AtomId> own =
        a.kind == Atom::Kind::loop ? std::span(&term.atom, 1) : std::span(a.loops);
    for (const AtomId loop : own) {
      if (std::find(loops.begin(), loops.end(), loop) == loops.end()) loops.push_back(loop);
    }
  }
}

Dim IndexSpace::coefficient(const Index& index, AtomId loop) const {
  for (const IndexTerm& term : index.terms) {
    if (term.atom == loop) return term.coefficient;
  }
  return 0;
}

bool IndexSpace::nested(const Index& index, AtomId loop) const {
  for (const IndexTerm& term : index.terms) {
    const std::vector<AtomId>& inside = atom(term.atom).loops;
    if (std::binary_search(inside.begin(), inside.end(), loop)) return true;
  }
  return false;
}

Index IndexSpace::with_values(const Index& index, const std::function<Index(AtomId)>& replace) {
  if (!is_by_value(index)) return index;
  Index result{index.offset, {}};
  for (const IndexTerm& term : index.terms) {
    const Atom one = atom(term.atom);
    Index replaced{0, {{term.atom, 1}}};
    if (one.kind == Atom::Kind::gathered || one.kind == Atom::Kind::computed) {
      replaced = replace(term.atom);
    } else if (one.by_value) {
      const Index numerator = with_values(one.numerator, replace);
      replaced = one.kind == Atom::Kind::quotient ? divide(numerator, one.divisor)
                                                  : modulo(numerator, one.divisor);
    }
    result = add(result, scale(replaced, term.coefficient));
  }
  return result;
}

bool IndexSpace::is_by_value(const Index& index) const {
  return std::any_of(index.terms.begin(), index.terms.end(),
                     [&](const IndexTerm& term) { return atom(term.atom).by_value; });
}

Index linear_index(IndexSpace& space, const IndexMap& map, const Shape& shape) {
  const ir::Dims strides = ir::contiguous_strides(shape);
  Index linear;
  for (std::size_t axis = 0; axis < map.size(); ++axis) {
    linear = space.add(linear, space.scale(map[axis], strides[axis]));
  }
  return linear;
}

namespace {

/// Whether a <= b is known, unless b is 0.
bool is_at_most(Dim a, Dim b) { return (b - a).is_non_negative() || b.exact_quotient(a); }

}  // namespace

IndexMap reshape_map(IndexSpace& space, const IndexMap& map, const Shape& to, const Shape& from) {
  IndexMap result(from.size());
  std::size_t to_end = to.size(), from_end = from.size();
  while (from_end > 0) {
    // Finds the shortest runs of trailing axes with equal products on both sides. Each run is
    // reshaped separately.
    std::size_t to_begin = to_end, from_begin = from_end - 1;
    Dim from_count = from[from_begin], to_count = 1;
    while (!(to_count == from_count)) {
      const bool extend_to =
          to_begin > 0 && (from_begin == 0 || is_at_most(to_count, from_count) ||
                           (!is_at_most(from_count, to_count) && !from_count.is_constant()));
      if (extend_to) {
        to_count *= to[--to_begin];
      } else if (from_begin > 0) {
        from_count *= from[--from_begin];
      } else {
        throw InternalError("reshape_map: " + ir::to_string(from) +
                            " does not have as many elements as " + ir::to_string(to));
      }
    }
    Index linear;
    Dim stride = 1;
    for (std::size_t axis = to_end; axis-- > to_begin;) {
      linear = space.add(linear, space.scale(map[axis], stride));
      stride *= to[axis];
    }
    for (std::size_t axis = from_end; axis-- > from_begin;) {
      if (axis == from_begin) {
        result[axis] = linear;
      } else {
        result[axis] = space.modulo(linear, from[axis]);
        linear = space.divide(linear, from[axis]);
      }
    }
    to_end = to_begin;
    from_end = from_begin;
  }
  return result;
}

}  // namespace heddle::passes
