#include "passes/groups/index.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <unordered_map>

#include <doctest/doctest.h>

using namespace heddle;
using namespace heddle::passes;

namespace {

using Values = std::unordered_map<std::uint32_t, std::int64_t>;

std::int64_t evaluate(const IndexSpace& space, const Index& index, const Values& loops,
                      const ir::SymbolBindings& symbols = {}) {
  std::int64_t sum = index.offset.evaluate(symbols);
  for (const IndexTerm& term : index.terms) {
    const Atom& atom = space.atom(term.atom);
    std::int64_t value = 0;
    if (atom.kind == Atom::Kind::loop) {
      value = loops.at(static_cast<std::uint32_t>(term.atom));
    } else {
      const std::int64_t numerator = evaluate(space, atom.numerator, loops, symbols);
      const std::int64_t divisor = atom.divisor.evaluate(symbols);
      REQUIRE(numerator >= 0);
      value = atom.kind == Atom::Kind::quotient ? numerator / divisor : numerator % divisor;
      // What range() and in_range() go by.
      CHECK(value < atom.extent.evaluate(symbols));
    }
    sum += term.coefficient.evaluate(symbols) * value;
  }
  return sum;
}

/// An Index with what it should be at one point.
struct Pair {
  Index index;
  std::int64_t value;
};

/// Random sums, products, quotients and remainders over a few loops at one point of them.
class Expressions {
 public:
  explicit Expressions(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) {
      const std::int64_t extent = 1 + below(i == 0 ? 3 : 12);
      const AtomId loop = space_.new_loop(extent);
      loops_[static_cast<std::uint32_t>(loop)] = below(extent);
      pool_.push_back(
          {space_.loop(loop), extent == 1 ? 0 : loops_[static_cast<std::uint32_t>(loop)]});
    }
    pool_.push_back({Index{below(20), {}}, 0});
    pool_.back().value = pool_.back().index.offset.constant();
  }

  void step() {
    const Pair& a = any();
    const Pair& b = any();
    static constexpr std::int64_t divisors[] = {1, 2, 3, 4, 6, 8, 12, 24, 64};
    const std::int64_t d = divisors[below(9)];
    switch (below(4)) {
      case 0:
        pool_.push_back({space_.add(a.index, b.index), a.value + b.value});
        break;
      case 1:
        pool_.push_back({space_.scale(a.index, d), a.value * d});
        break;
      case 2:
        pool_.push_back({space_.divide(a.index, d), a.value / d});
        break;
      default:
        pool_.push_back({space_.modulo(a.index, d), a.value % d});
        break;
    }
    check(pool_.back());
  }

  void check(const Pair& pair) {
    CHECK(evaluate(space_, pair.index, loops_) == pair.value);
    if (const auto range = space_.range(pair.index)) {
      CHECK(range->minimum <= pair.value);
      CHECK(pair.value <= range->maximum);
    }
    if (space_.in_range(pair.index, 7)) CHECK((pair.value >= 0 && pair.value < 7));
    CHECK(std::is_sorted(pair.index.terms.begin(), pair.index.terms.end(),
                         [](const IndexTerm& x, const IndexTerm& y) { return x.atom < y.atom; }));
  }

 private:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }
  const Pair& any() {
    return pool_[static_cast<std::size_t>(below(static_cast<std::int64_t>(pool_.size())))];
  }

  std::mt19937_64 random_;
  IndexSpace space_;
  Values loops_;
  std::vector<Pair> pool_;
};

Shape random_shape(std::mt19937_64& random, std::int64_t count) {
  // Factors of `count` in a random order, with ones among them.
  Shape shape;
  while (count > 1) {
    std::int64_t factor = 2;
    while (count % factor != 0) ++factor;
    count /= factor;
    if (!shape.empty() && random() % 2 == 0) {
      shape.back() *= Dim(factor);
    } else {
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(random() % (shape.size() + 1)),
                   Dim(factor));
    }
  }
  while (random() % 3 == 0)
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(random() % (shape.size() + 1)),
                 Dim(1));
  return shape;
}

}  // namespace

TEST_CASE("index expressions keep their values") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Expressions expressions(seed);
    for (int i = 0; i < 40; ++i) expressions.step();
  }
}

TEST_CASE("what is affine stays affine") {
  IndexSpace space;
  const AtomId i = space.new_loop(6), j = space.new_loop(8);
  const Index flat = space.add(space.scale(space.loop(i), 8), space.loop(j));
  CHECK(space.divide(flat, 8) == space.loop(i));
  CHECK(space.modulo(flat, 8) == space.loop(j));
  CHECK(space.divide(flat, 48).is_constant());
  CHECK(space.modulo(flat, 48) == flat);
  // 5 * (i / 5) + i % 5 is i again.
  const Index x = space.loop(j);
  const Index again = space.add(space.scale(space.divide(x, 5), 5), space.modulo(x, 5));
  CHECK(again == x);
  // Around the end of an axis and back.
  const Index around = space.modulo(space.add(space.loop(i), {1, {}}), 6);
  CHECK(space.modulo(space.add(around, {5, {}}), 6) == space.loop(i));
  // Windows: rows of an array that is repeated, each one or a few elements longer than the array.
  const AtomId k = space.new_loop(3);
  const auto rows = [&](Dim step) {
    return space.add(space.scale(space.loop(j), step), space.loop(k));
  };
  CHECK(space.modulo(rows(38), 18) == rows(2));
  CHECK(space.divide(rows(38), 18) == space.scale(space.loop(j), 2));
  // And the other way, rows that are one element shorter.
  const Index shorter = space.add(rows(17), {8, {}});
  CHECK(space.divide(shorter, 18) == space.loop(j));
  CHECK(space.modulo(shorter, 18) ==
        space.add(space.add(space.loop(k), {8, {}}), space.scale(space.loop(j), -1)));
  // A quotient of one expression by one divisor is one atom.
  CHECK(space.divide(x, 3) == space.divide(x, 3));
}

TEST_CASE("reshapes address what NumPy's do") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    static constexpr std::int64_t counts[] = {1, 2, 6, 12, 30, 36, 64, 97, 120, 210, 360};
    const std::int64_t count = counts[random() % 11];
    const Shape to = random_shape(random, count), from = random_shape(random, count);
    CAPTURE(ir::to_string(to));
    CAPTURE(ir::to_string(from));
    IndexSpace space;
    IndexMap map;
    std::vector<AtomId> loops;
    for (const Dim extent : to) {
      loops.push_back(space.new_loop(extent));
      map.push_back(space.loop(loops.back()));
    }
    const IndexMap inside = reshape_map(space, map, to, from);
    REQUIRE(inside.size() == from.size());
    for (std::int64_t flat = 0; flat < count; ++flat) {
      Values values;
      std::int64_t rest = flat;
      for (std::size_t axis = to.size(); axis-- > 0;) {
        values[static_cast<std::uint32_t>(loops[axis])] = rest % to[axis].constant();
        rest /= to[axis].constant();
      }
      std::int64_t expected = flat;
      for (std::size_t axis = from.size(); axis-- > 0;) {
        CHECK(evaluate(space, inside[axis], values) == expected % from[axis].constant());
        expected /= from[axis].constant();
      }
    }
    // As an address it is the flat index itself, whatever the shapes.
    Index flat_again = linear_index(space, inside, from);
    for (const IndexTerm& term : flat_again.terms)
      CHECK(space.atom(term.atom).kind == Atom::Kind::loop);
    CHECK(flat_again == linear_index(space, map, to));
  }
}

TEST_CASE("a reshape with a symbol keeps the axes apart that do not mix") {
  IndexSpace space;
  const Dim n = Dim::symbol("n");
  const Shape to{n, 6, 5}, from{n, 30};
  IndexMap map;
  for (const Dim extent : to) map.push_back(space.loop(space.new_loop(extent)));
  const IndexMap inside = reshape_map(space, map, to, from);
  CHECK(inside[0] == map[0]);
  CHECK(inside[1] == space.add(space.scale(map[1], 5), map[2]));
  const IndexMap back = reshape_map(space, inside, from, to);
  CHECK(back == map);
}

// sliding_window_view repeats an axis, and reads it with a row length that is one more.
TEST_CASE("windows along an axis of symbolic extent are affine") {
  IndexSpace space;
  const Dim n = Dim::symbol("n"), b = Dim::symbol("b");
  const Shape windows{b, n, n + 5}, flat{b, n * (n + 5)}, repeated{b, n + 1, n + 4};
  IndexMap map;
  for (const Dim extent : {b, n, Dim(5)}) map.push_back(space.loop(space.new_loop(extent)));
  const Shape longer{b, (n + 1) * (n + 4)};
  const IndexMap inside =
      reshape_map(space, reshape_map(space, map, windows, flat), longer, repeated);
  CHECK(inside == IndexMap{map[0], map[1], space.add(map[1], map[2])});
}
