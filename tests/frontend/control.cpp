// The C++ forms of loops and branches; tests/python/test_control.py holds them to NumPy.
#include <tuple>
#include <vector>

#include "against_numpy.h"

struct LoopState {
  heddle::Array position, velocity;
};
HEDDLE_STRUCT(LoopState, position, velocity)

namespace heddle::test {
namespace {

TEST_CASE("fori_loop passes an array or a struct from step to step") {
  const auto sums = [](const Array& x) {
    return hd::fori_loop(
        0, 4, [&](const Array& i, const Array& sum) { return sum + x(i) * i; }, hd::zeros({2}));
  };
  const Array x = hd::arange<double>(8).reshape({4, 2});
  check<double>(sums(x), {2}, {0 + 2 + 8 + 18, 0 + 3 + 10 + 21});
  check<double>(hd::jit(sums)(x.eval()), {2}, {28, 34});
  const LoopState last = hd::fori_loop(
      0, 3,
      [](const Array&, const LoopState& now) {
        return LoopState{now.position + now.velocity, now.velocity * 2};
      },
      LoopState{hd::zeros({2}), hd::ones({2})});
  check<double>(last.position, {2}, {7, 7});
  check<double>(last.velocity, {2}, {8, 8});
}

TEST_CASE("rows are written at the counter") {
  const Array x = hd::ones({5, 2});
  const Array found = hd::fori_loop(
      1, 5,
      [](const Array& i, Array a) {
        a.at(i) = a(i) + a(i - 1);
        return a;
      },
      x);
  check<double>(found, {5, 2}, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  check<double>(x, {5, 2}, std::vector<double>(10, 1));
}

TEST_CASE("bounds may be arrays, and loops end by a condition") {
  const Array n = hd::array(std::int64_t{5});
  check<std::int64_t>(hd::fori_loop(
                          n - 4, n, [](const Array& i, const Array& sum) { return sum + i; },
                          hd::array(std::int64_t{0})),
                      {}, {10});
  const auto [value, steps] = hd::while_loop(
      [](const std::tuple<Array, Array>& state) { return std::get<0>(state) < 100.0; },
      [](const std::tuple<Array, Array>& state) {
        return std::tuple(std::get<0>(state) * 2.0, std::get<1>(state) + 1);
      },
      std::tuple(hd::array(3.0), hd::array(std::int64_t{0})));
  check<double>(value, {}, {192});
  check<std::int64_t>(steps, {}, {6});
}

TEST_CASE("scan stacks results, map has no carry") {
  const Array x = hd::arange<double>(6).reshape({3, 2});
  const auto [last, before] =
      hd::scan([](const Array& sum, const Array& row) { return std::pair(sum + row, sum); },
               hd::zeros({2}), x);
  check<double>(last, {2}, {6, 9});
  check<double>(before, {3, 2}, {0, 0, 0, 1, 2, 4});
  check<double>(hd::map([](const Array& row) { return hd::sum(row); }, x), {3}, {1, 5, 9});
}

TEST_CASE("associative_scan combines arrays, tuples and structs") {
  const Array x = hd::array({1.0, 2.0, 3.0, 4.0, 5.0});
  const auto sum = [](const Array& a, const Array& b) { return a + b; };
  check<double>(hd::associative_scan(sum, x), {5}, {1, 3, 6, 10, 15});
  check<double>(hd::associative_scan(sum, x, true), {5}, {15, 14, 12, 9, 5});
  check<double>(hd::associative_scan(sum, hd::ones({2, 3}), false, 1), {2, 3}, {1, 2, 3, 1, 2, 3});
  using Affine = std::tuple<Array, Array>;
  const auto compose = [](const Affine& a, const Affine& b) {
    return Affine(std::get<0>(b) * std::get<0>(a),
                  std::get<0>(b) * std::get<1>(a) + std::get<1>(b));
  };
  check<double>(std::get<1>(hd::associative_scan(compose, Affine(hd::full({5}, 2.0), x))), {5},
                {1, 4, 11, 26, 57});
  const LoopState last = hd::associative_scan(
      [](const LoopState& a, const LoopState& b) {
        return LoopState{hd::maximum(a.position, b.position), b.velocity};
      },
      LoopState{x(hd::slice(hd::none, hd::none, -1)), x});
  check<double>(last.position, {5}, {5, 5, 5, 5, 5});
  check<double>(last.velocity, {5}, {1, 2, 3, 4, 5});
  CHECK_THROWS_AS(hd::associative_scan(sum, x, false, 1), hd::AxisError);
  CHECK_THROWS_AS(hd::associative_scan([](const Array& a, const Array&) { return a(0); }, x),
                  hd::ShapeError);
  CHECK_THROWS_AS(
      hd::associative_scan([](const Array& a, const Array&) { return a.astype<float>(); }, x),
      hd::DTypeError);
}

TEST_CASE("branches run one function") {
  const Array x = hd::array({1.0, -2.0});
  const auto half = [](const Array& v) { return v / 2; };
  const auto same = [](const Array& v) { return v; };
  check<double>(hd::cond(hd::sum(x) > 0, half, same, x), {2}, {1, -2});
  check<double>(hd::cond(hd::sum(x) < 0, half, same, x), {2}, {0.5, -1});
  using Branch = std::function<Array(Array)>;
  const std::vector<Branch> branches = {half, same, [](const Array& v) { return v * 10; }};
  check<double>(hd::switch_case(hd::array(std::int64_t{2}), branches, x), {2}, {10, -20});
  check<double>(hd::switch_case(hd::array(std::int64_t{-1}), branches, x), {2}, {0.5, -1});
}

TEST_CASE("slices begin at a loop's counter") {
  const Array x = hd::arange<double>(6);
  const auto sums = [](const Array& v) {
    return hd::fori_loop(
        0, 5, [&](const Array& i, const Array& sum) { return sum + v(hd::slice(i, i + 2)) * i; },
        hd::zeros({2}));
  };
  check<double>(sums(x), {2}, {30, 40});
  check<double>(hd::jit(sums)(x.eval()), {2}, {30, 40});
  const Array smoothed = hd::fori_loop(
      1, 5,
      [](const Array& i, Array a) {
        a.at(hd::slice(i - 1, i + 2)) += a(i);
        return a;
      },
      hd::ones({6}));
  check<double>(smoothed, {6}, {2, 4, 7, 10, 8, 5});
  const Array backwards = hd::fori_loop(
      0, 3, [&](const Array& i, const Array&) { return x(hd::slice(i + 3, i, -2)); },
      hd::zeros({2}));
  check<double>(backwards, {2}, {5, 3});
}

TEST_CASE("elements of a slice beyond the end are the last, and are not written") {
  const Array x = hd::arange<double>(4);
  const Array read = hd::fori_loop(
      0, 4, [&](const Array& i, const Array&) { return x(hd::slice(i, i + 3)); }, hd::zeros({3}));
  check<double>(read, {3}, {3, 3, 3});
  const Array written = hd::fori_loop(
      0, 4,
      [](const Array& i, Array a) {
        a.at(hd::slice(i, i + 3)) = hd::array({1.0, 2.0, 3.0}) * 1;
        return a;
      },
      x);
  check<double>(written, {4}, {1, 1, 1, 1});
}

TEST_CASE("bounds of slices outside of a trace are read") {
  const Array x = hd::arange<double>(6);
  const Array two = hd::array(2), minus = hd::array(std::int64_t{-1});
  check<double>(x(hd::slice(two, minus)), {3}, {2, 3, 4});
  check<double>(x(hd::slice(two)), {2}, {0, 1});
  check<double>(x(hd::slice(two, hd::none, 2)), {2}, {2, 4});
  check<double>(x(hd::slice(1, two)), {1}, {1});
  CHECK_THROWS_AS(x(hd::slice(x)), hd::DTypeError);
}

TEST_CASE("slices whose length varies are refused in a trace") {
  const Array x = hd::ones({6});
  const auto in_loop = [&](auto part) {
    return message_of<hd::TraceError>([&] {
      hd::fori_loop(
          0, 3, [&](const Array& i, const Array& sum) { return sum + hd::sum(part(i)); },
          hd::zeros({}));
    });
  };
  const std::string mask = "hd.where(hd.arange(n) < k, x, 0)";
  CHECK(contains(in_loop([&](const Array& i) { return x(hd::slice(i)); }), mask));
  CHECK(contains(in_loop([&](const Array& i) { return x(hd::slice(i, 5)); }), mask));
  CHECK(contains(in_loop([&](const Array& i) { return x(hd::slice(i, i * 2)); }), mask));
  const Array j = hd::array(1);
  CHECK(contains(in_loop([&](const Array&) { return x(hd::slice(j, j + 2)); }), "dynamic_slice"));
}

TEST_CASE("with a condition for each element, each takes its own steps") {
  using State = std::tuple<Array, Array>;
  const Array n = hd::arange(1, 11);
  const auto more = [](const State& s) { return std::get<0>(s) > 1; };
  const auto step = [](const State& s) {
    const auto& [value, steps] = s;
    return State(hd::where(value % 2 == 0, hd::floor_divide(value, 2), 3 * value + 1), steps + 1);
  };
  const auto [last, steps] = hd::while_loop(more, step, State(n, hd::zeros({}, DType::i64)));
  check<std::int64_t>(last, {10}, std::vector<std::int64_t>(10, 1));
  check<std::int64_t>(steps, {10}, {0, 1, 7, 2, 5, 8, 16, 3, 19, 6});
  CHECK_THROWS_AS(hd::while_loop([](const Array& c) { return hd::sum(c, 0) > 0; },
                                 [](const Array& c) { return c; }, hd::ones({2, 3})),
                  hd::ShapeError);
}

TEST_CASE("bodies that cannot be loops are refused") {
  const Array x = hd::zeros<int>({2});
  CHECK(contains(message_of<hd::DTypeError>([&] {
                   hd::fori_loop(0, 3, [](const Array&, const Array& c) { return c + 0.5; }, x);
                 }),
                 "fori_loop: carry 0 is i32[2] before a step, but the body returns f64[2]"));
  CHECK_THROWS_AS(hd::fori_loop(
                      0, 3, [](const Array&, const Array& c) { return c(hd::slice(1)); }, x),
                  hd::ShapeError);
  CHECK_THROWS_AS(hd::fori_loop(
                      0, 3, [](const Array&, const Array& c) { return c * c(0).item<int>(); }, x),
                  hd::TraceError);
  CHECK_THROWS_AS(
      hd::while_loop([](const Array& c) { return c + 1; }, [](const Array& c) { return c; }, x),
      hd::DTypeError);
}

}  // namespace
}  // namespace heddle::test
