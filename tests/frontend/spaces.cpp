#include <limits>

#include "values.h"

using hd::test::check;

namespace {

const std::optional<hd::DType> natural;

}  // namespace

TEST_CASE("spaces between arrays lie along a new axis") {
  const hd::Array low = hd::array({0.0, 1.0}), high = hd::array({2.0, 5.0});
  check<double>(hd::linspace(low, high, 3, true, natural, 0), {3, 2}, {0, 1, 1, 3, 2, 5});
  check<double>(hd::linspace(low, high, 2, false, natural, -1), {2, 2}, {0, 1, 1, 3});
  check<double>(hd::linspace(low, 4, 1, true, natural, 0), {1, 2}, {0, 1});
  check<int>(hd::linspace(low, high, 3, true, hd::int32, 1), {2, 3}, {0, 1, 2, 1, 3, 5});
  CHECK(hd::linspace(hd::ones<float>({2}), 3.0, 4, true, natural, 0).dtype() == hd::float32);
  check<double>(hd::logspace(low, 2.0, 2, true, 2.0, natural, 1), {2, 2}, {1, 4, 2, 4});
  const hd::Array powers =
      hd::geomspace(hd::array({1.0, -1.0}), hd::array({4.0, -16.0}), 3, true, natural, 0);
  const std::vector<double> expected{1, -1, 2, -4, 4, -16}, found = powers.to_vector<double>();
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-14));
}

TEST_CASE("spaces refuse axes, counts and zeros") {
  const hd::Array low = hd::array({0.0, 1.0});
  CHECK_THROWS_AS(hd::linspace(low, 1.0, 3, true, natural, 2), hd::AxisError);
  CHECK_THROWS_AS(hd::linspace(low, 1.0, 3, true, natural, -3), hd::IndexError);
  CHECK_THROWS_AS(hd::linspace(low, 1.0, -1, true, natural, 0), hd::ValueError);
  CHECK_THROWS_AS(hd::geomspace(0.0, low, 3, true, natural, 0), hd::ValueError);
}

TEST_CASE("quantiles of weighted elements") {
  const hd::Array x = hd::array({{3.0, 1.0, 2.0}, {6.0, 5.0, 4.0}}), w = hd::array({1, 1, 4});
  check<double>(hd::quantile(x, 0.5, 1, "inverted_cdf", false, w), {2}, {2, 4});
  check<double>(hd::quantile(x, hd::array({0.0, 1.0}), 1, "inverted_cdf", true, w), {2, 2, 1},
                {1, 4, 3, 6});
  check<double>(hd::percentile(x, 20, {}, "inverted_cdf", false, x), {}, {3});
  CHECK_THROWS_AS(hd::quantile(x, 0.5, 1, "linear", false, w), hd::ValueError);
  CHECK_THROWS_AS(hd::quantile(x, 0.5, 0, "inverted_cdf", false, w), hd::ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const hd::Array y = hd::array({nan, 1.0, 2.0});
  CHECK(std::isnan(hd::quantile(y, 0.5, {}, "inverted_cdf", false, w).item<double>()));
  CHECK(hd::nanquantile(y, 0.5, {}, "inverted_cdf", false, w).item<double>() == 2);
}

TEST_CASE("samples that repeat") {
  const hd::Array places = hd::array({5.0, 1.0}), values = hd::array({2.0, 6.0});
  check<double>(hd::interp(hd::array({0.0, 3.0, 7.0, 12.0}), places, values, {}, {}, 8.0), {4},
                {5, 4, 4, 3});
  CHECK_THROWS_AS(hd::interp(1.0, places, values, {}, {}, 0.0), hd::ValueError);
}
