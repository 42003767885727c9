// The C++ form of vmap; tests/python/test_vmap.py holds it to NumPy.
#include "against_numpy.h"

namespace heddle::test {
namespace {

TEST_CASE("vmap takes arrays, tuples and arguments that are the same for all slices") {
  const Array x = hd::arange<double>(6).reshape({2, 3}), w = hd::array({1.0, 0.0, 2.0});
  const auto weighted =
      hd::vmap([](const Array& row, const Array& weights) { return hd::sum(row * weights); },
               {0, std::nullopt});
  check<double>(weighted(x, w), {2}, {4, 13});
  using Both = std::tuple<Array, Array>;
  const auto swapped = hd::vmap(
      [](const Both& both) { return Both(std::get<1>(both) * 2, std::get<0>(both)); }, {1}, 1);
  const auto [twice, same] = swapped(Both(x, x + 1));
  check<double>(twice, {2, 3}, {2, 4, 6, 8, 10, 12});
  check<double>(same, {2, 3}, {0, 1, 2, 3, 4, 5});
}

TEST_CASE("a loop ends for each slice on its own") {
  const auto halved = [](const Array& v) {
    return hd::while_loop([](const Array& a) { return hd::max(a) > 1.0; },
                          [](const Array& a) { return a / 2; }, v);
  };
  const Array x = hd::array({{1.0, 8.0}, {0.5, 0.25}, {3.0, 2.0}});
  const std::vector<double> expected = {0.125, 1, 0.5, 0.25, 0.75, 0.5};
  check<double>(hd::vmap(halved)(x), {3, 2}, expected);
  const auto traced = hd::jit([&](const Array& a) { return hd::vmap(halved)(a); });
  check<double>(traced(x.eval()), {3, 2}, expected);
}

TEST_CASE("what vmap cannot do is said with the line") {
  const auto add = [](const Array& a, const Array& b) { return a + b; };
  const auto sum = hd::vmap(add);
  CHECK(contains(message_of<hd::ShapeError>([&] { sum(hd::ones({2}), hd::ones({3})); }),
                 "vmap: argument 1 has 3 slices along axis 0, but argument 0 says 2 ("));
  CHECK_THROWS_AS(sum(hd::ones({}), hd::ones({3})), hd::AxisError);
  const auto none = hd::vmap([](const Array& a) { return a; }, {std::nullopt});
  CHECK_THROWS_AS(none(hd::ones({2})), hd::ValueError);
  CHECK_THROWS_WITH_AS(hd::vmap(add, {0})(hd::ones({2}), hd::ones({2})),
                       doctest::Contains("tests/frontend/vmap.cpp:"), hd::ValueError);
  const auto read = hd::vmap([](const Array& a) { return a.item<double>() > 0 ? a : -a; });
  CHECK_THROWS_AS(read(hd::ones({2})), hd::TraceError);
}

}  // namespace
}  // namespace heddle::test
