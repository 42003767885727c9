#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::line_mark;
using hd::test::message_of;

namespace {

struct State {
  hd::Array x, v;
  int steps = 0;
};

std::uint64_t traces() { return hd::statistics().traces; }

}  // namespace

TEST_CASE("captured arrays are read anew at each call") {
  hd::Array w = hd::array({1.0f, 2.0f});
  const auto f = hd::jit([&w](const hd::Array& x) {
    const hd::Array copy = w;  // NOLINT(performance-unnecessary-copy-initialization)
    return x * w + copy;
  });
  const hd::Array x = hd::array({1.0f, 1.0f});
  const std::uint64_t before = traces();
  check<float>(f(x), {2}, {2, 4});
  w = hd::array({10.0f, 20.0f});
  check<float>(f(x), {2}, {20, 40});
  w += 1;
  check<float>(f(x), {2}, {22, 42});
  CHECK(traces() == before + 1);
  w = hd::array({1.0, 2.0});
  CHECK(f(x).dtype() == hd::float64);
  CHECK(traces() == before + 2);
}

TEST_CASE("a captured array is the variable, wherever its value is moved") {
  hd::Array current = hd::zeros<float>({2}), next;
  const auto step = hd::jit([&] { return current + 1.0f; });
  const std::uint64_t before = traces();
  for (int i = 0; i < 4; ++i) {
    next = step();
    std::swap(current, next);
  }
  check<float>(current, {2}, {4, 4});
  const hd::Array taken = std::move(current);
  current = hd::array({7.0f, 7.0f});
  check<float>(step(), {2}, {8, 8});
  hd::Array other = hd::array({8.0f, 8.0f});
  other = std::move(current);
  current = other * 2.0f;
  check<float>(step(), {2}, {15, 15});
  check<float>(taken, {2}, {4, 4});
  CHECK(traces() == before + 1);
}

TEST_CASE("captured elements of containers are read where they are now") {
  std::vector<hd::Array> weights{hd::array({1.0f}), hd::array({2.0f})};
  const auto f = hd::jit([&] { return weights.at(0) - weights.at(1); });
  check<float>(f(), {1}, {-1});
  std::swap(weights[0], weights[1]);
  check<float>(f(), {1}, {1});
  weights.reserve(weights.capacity() + 1);
  check<float>(f(), {1}, {1});
  weights[0] = hd::array({5.0f});
  check<float>(f(), {1}, {4});
  weights.clear();
  CHECK_THROWS_AS(f(), std::out_of_range);
  weights.assign({hd::array({10.0f}), hd::array({3.0f})});
  check<float>(f(), {1}, {7});

  State state{hd::array({1.0f}), hd::array({2.0f}), 0};
  const auto g = hd::jit([&] { return state.x * state.v; });
  check<float>(g(), {1}, {2});
  State earlier = std::move(state);
  state = State{hd::array({3.0f}), earlier.v, 1};
  check<float>(g(), {1}, {6});
}

TEST_CASE("a captured array that holds nothing is an error at the line that reads it") {
  hd::Array w = hd::array({1.0f});
  const auto f = hd::jit([&w](const hd::Array& x) { return x + w; });
  const hd::Array x = hd::array({1.0f});
  check<float>(f(x), {1}, {2});
  w = hd::Array();
  const std::string text = message_of<hd::ValueError>([&] { f(x); });
  CHECK(contains(text, "holds no value"));
  CHECK(contains(text, line_mark(__LINE__ - 6)));
  w = hd::array({2.0f});
  check<float>(f(x), {1}, {3});
}

TEST_CASE("moving a captured array inside a trace leaves it as it was") {
  hd::Array w = hd::array({1.0f, 2.0f});
  const auto f = hd::jit([&w](const hd::Array& x) {
    const hd::Array mine = std::move(w);
    hd::Array sum = x;
    sum = std::move(w);  // NOLINT(bugprone-use-after-move)
    return sum + mine;
  });
  const hd::Array x = hd::zeros<float>({2});
  check<float>(f(x), {2}, {2, 4});
  check<float>(w, {2}, {1, 2});
  w = hd::array({3.0f, 4.0f});
  check<float>(f(x), {2}, {6, 8});
}

TEST_CASE("a captured 0-d array made from a constant is read anew") {
  hd::Array rate = hd::zeros<float>({});
  const auto f = hd::jit([&](const hd::Array& x) { return x + rate; });
  const hd::Array x = hd::array({1.0f});
  check<float>(f(x), {1}, {1});
  rate = hd::full({}, 5.0f);
  check<float>(f(x), {1}, {6});
  rate = hd::array({2.0f})(0);
  check<float>(f(x), {1}, {3});
}

TEST_CASE("arrays captured by value and made inside work") {
  const auto make = [] {
    const hd::Array table = hd::array({5.0f, 6.0f});
    return hd::jit([table](const hd::Array& x) {
      hd::Array local = hd::array({1.0f, 2.0f});
      local = local + x;
      return local * table + hd::ones<float>({2});
    });
  };
  const auto f = make();
  check<float>(f(hd::zeros<float>({2})), {2}, {6, 13});
  check<float>(f(hd::ones<float>({2})), {2}, {11, 19});
}
