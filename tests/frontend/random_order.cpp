#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/frontend/values.h"

namespace heddle::test {
namespace {

using Ints = std::vector<std::int64_t>;

Ints ints(const Array& x) { return x.to_vector<std::int64_t>(); }
Ints sorted(Ints values) {
  std::ranges::sort(values);
  return values;
}
Ints count_up(std::int64_t n) {
  Ints values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// Within six deviations of what each cell has in `draws`.
void check_shares(const std::map<Ints, int>& found, const std::map<Ints, double>& shares,
                  int draws) {
  for (const auto& [cell, share] : shares) {
    const int seen = found.contains(cell) ? found.at(cell) : 0;
    CAPTURE(seen);
    CHECK(std::abs(seen - draws * share) < 6 * std::sqrt(draws * share * (1 - share)) + 1e-9);
  }
}

std::map<Ints, int> rows_of(const Array& table) {
  const Ints values = ints(table);
  const auto width = table.shape(1);
  std::map<Ints, int> rows;
  for (auto row = values.begin(); row != values.end(); row += width) ++rows[Ints(row, row + width)];
  return rows;
}

TEST_CASE("permutations have all elements, and every order as often") {
  random::Generator rng(1);
  const Ints order = ints(rng.permutation(1000));
  CHECK(order != count_up(1000));
  CHECK(sorted(order) == count_up(1000));
  CHECK(rng.permutation(0).shape() == Shape{0});
  const Array x = arange(12).reshape({3, 4});
  const Array columns = rng.permutation(x, -1);
  CHECK(columns.shape() == Shape{3, 4});
  CHECK(ints(sort(columns(0))) == count_up(4));
  check<std::int64_t>(columns(1) - columns(0), {4}, {4, 4, 4, 4});
  // Rows in orders of their own: each of 3! in a sixth.
  const Array lines = rng.permuted(broadcast_to(arange(3), {60'000, 3}), 1);
  std::map<Ints, double> shares;
  Ints each = {0, 1, 2};
  do {
    shares[each] = 1.0 / 6;
  } while (std::ranges::next_permutation(each).found);
  check_shares(rows_of(lines), shares, 60'000);
  const Array all_over = rng.permuted(x);
  CHECK(all_over.shape() == Shape{3, 4});
  CHECK(sorted(ints(all_over)) == count_up(12));
  CHECK_THROWS_AS(rng.permutation(-1), ValueError);
  CHECK_THROWS_AS(rng.permutation(x, 2), IndexError);
  CHECK_THROWS_AS(rng.permutation(array<int>({1})(0)), ShapeError);
}

TEST_CASE("shuffle writes") {
  random::Generator rng(2);
  Array x = arange(100);
  const Array before = x;
  rng.shuffle(x);
  CHECK(ints(x) != ints(before));
  CHECK(sorted(ints(x)) == ints(before));
  Array rows = arange(100).reshape({50, 2});
  rng.shuffle(rows, 0);
  check<std::int64_t>(rows(_, 1) - rows(_, 0), {50}, Ints(50, 1));
}

TEST_CASE("choices with replacement have their probabilities") {
  random::Generator rng(3);
  constexpr int draws = 60'000;
  const Array even = rng.choice(5, {draws, 1});
  CHECK(even.dtype() == DType::i64);
  check_shares(rows_of(even), {{{0}, 0.2}, {{4}, 0.2}}, draws);
  const Array p = array({0.0, 0.5, 0.2, 0.0, 0.3, 0.0});
  const std::map<Ints, double> shares = {{{0}, 0.0}, {{1}, 0.5}, {{2}, 0.2},
                                         {{3}, 0.0}, {{4}, 0.3}, {{5}, 0.0}};
  check_shares(rows_of(rng.choice(6, {draws, 1}, {.p = p})), shares, draws);
  // Weights do.
  check_shares(rows_of(rng.choice(6, {draws, 1}, {.p = p.astype<float>() * 7.0})), shares, draws);
  const Array letters = array({10, 20, 30}), chosen = rng.choice(letters, {2, 3});
  CHECK(chosen.shape() == Shape{2, 3});
  CHECK(all(chosen % 10 == 0).item<bool>());
  CHECK(rng.choice(5).shape().empty());
  CHECK(rng.choice(arange(12).reshape({3, 4}), {5}, {}, 1).shape() == Shape{3, 5});
}

TEST_CASE("choices without replacement differ, and come in their order") {
  random::Generator rng(4);
  const Ints some = sorted(ints(rng.choice(1000, {10, 10}, {.replace = false})));
  CHECK(std::ranges::adjacent_find(some) == some.end());
  // One after the other, of what is left: {0, 2} has 0.5 * 0.2 / 0.5 and {2, 0} 0.2 * 0.5 / 0.8.
  const Array p = array({0.5, 0.3, 0.2, 0.0});
  std::map<Ints, int> found;
  constexpr int draws = 4000;
  const auto pick = jit([&] { return rng.choice(4, {2}, {.replace = false, .p = p}); });
  for (int i = 0; i < draws; ++i) ++found[ints(pick())];
  check_shares(found,
               {{{0, 1}, 0.3},
                {{0, 2}, 0.2},
                {{1, 0}, 0.3 * 0.5 / 0.7},
                {{1, 2}, 0.3 * 0.2 / 0.7},
                {{2, 0}, 0.125},
                {{2, 1}, 0.075},
                {{3, 0}, 0.0}},
               draws);
  CHECK(ints(rng.choice(0, {0})).empty());
  CHECK_THROWS_AS(rng.choice(0, {1}), ValueError);
  CHECK_THROWS_AS(rng.choice(3, {4}, {.replace = false}), ValueError);
  CHECK_THROWS_AS(rng.choice(4, {2}, {.p = array({0.5, 0.5})}), ShapeError);
}

TEST_CASE("orders repeat by seed, and differ in each call of a jitted function") {
  random::Generator a(5), b(5);
  const auto inside = jit([&](const Array& x) { return a.permutation(x); });
  const Array x = arange(50);
  const Ints first = ints(inside(x)), second = ints(inside(x));
  CHECK(first == ints(b.permutation(x)));
  CHECK(second == ints(b.permutation(x)));
  CHECK(first != second);
  CHECK(a.bytes(13) == b.bytes(13));
  CHECK(a.bytes(13) != b.bytes(14));
  CHECK(a.bytes(0).empty());
}

}  // namespace
}  // namespace heddle::test
