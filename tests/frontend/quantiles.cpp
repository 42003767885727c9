#include <fmt/format.h>

#include "against_numpy.h"

namespace heddle::test {
namespace {

const std::vector<std::string> methods = {"inverted_cdf",
                                          "averaged_inverted_cdf",
                                          "closest_observation",
                                          "interpolated_inverted_cdf",
                                          "hazen",
                                          "weibull",
                                          "linear",
                                          "median_unbiased",
                                          "normal_unbiased",
                                          "lower",
                                          "higher",
                                          "midpoint",
                                          "nearest"};

Both with_nans(const ir::Shape& shape) {
  ir::HostArray array = moderate_sample(DType::f64, shape, 5);
  const double nan = std::nan("");
  const std::size_t count = array.data.size() / sizeof nan;
  for (std::size_t i = 0; i < count; i += 7) std::memcpy(&array.data[i * 8], &nan, sizeof nan);
  // The first row of the last axis has nothing else.
  for (std::int64_t i = 0; i < shape.back().constant(); ++i)
    std::memcpy(&array.data[static_cast<std::size_t>(i) * 8], &nan, sizeof nan);
  return Both(std::move(array));
}

TEST_CASE("medians over any axes, of every kind of dtype") {
  for (const DType dtype :
       {DType::boolean, DType::i32, DType::u64, DType::f16, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    const Both x(moderate_sample(dtype, {4, 5, 6}, 1));
    check_like_numpy({hd::median(x.array), hd::median(x.array, 1), hd::median(x.array, {0, 2}),
                      hd::median(x.array, -1, true), hd::median(x.array, {}, true)},
                     "result = (np.median(x), np.median(x, 1), np.median(x, (0, 2)),\n"
                     "          np.median(x, -1, keepdims=True), np.median(x, keepdims=True))",
                     {{"x", x.host}});
  }
}

TEST_CASE("medians with NaN, and without it") {
  const Both x = with_nans({6, 8, 9});
  std::vector<Array> ours;
  for (const Axes& axes : {Axes(), Axes(0), Axes(2), Axes({0, 1})}) {
    ours.push_back(hd::median(x.array, axes));
    ours.push_back(hd::nanmedian(x.array, axes));
  }
  check_like_numpy(ours,
                   "import warnings; warnings.simplefilter('ignore'); result = ()\n"
                   "for a in (None, 0, 2, (0, 1)): result += (np.median(x, a), np.nanmedian(x, a))",
                   {{"x", x.host}});
  check<double>(hd::median(hd::zeros<double>({2, 0}), 1), {2}, {std::nan(""), std::nan("")});
}

TEST_CASE("quantiles by every method") {
  const Both x(moderate_sample(DType::f64, {3, 10}, 2));
  const Both nan = with_nans({5, 20});
  const Both whole(moderate_sample(DType::i32, {3, 9}, 4));
  const Array q = hd::array<double>({0, 0.05, 0.1, 0.25, 0.35, 0.5, 0.75, 0.9, 1});
  for (const std::string& method : methods) {
    std::vector<Array> ours;
    for (const Axes& axis : {Axes(), Axes(0), Axes(1)}) {
      ours.push_back(hd::quantile(x.array, q, axis, method));
      ours.push_back(hd::quantile(nan.array, q, axis, method));
      ours.push_back(hd::nanquantile(nan.array, q, axis, method));
      ours.push_back(hd::quantile(whole.array, q, axis, method));
    }
    ours.push_back(hd::quantile(x.array, 0.3, 0, method, true));
    ours.push_back(hd::percentile(x.array, 30, -1, method));
    check_like_numpy(
        ours,
        fmt::format("import warnings; warnings.simplefilter('ignore'); m = '{}'; result = ()\n"
                    "q = np.array([0, 0.05, 0.1, 0.25, 0.35, 0.5, 0.75, 0.9, 1])\n"
                    "for a in (None, 0, 1):\n"
                    "  result += (np.quantile(x, q, a, method=m), np.quantile(y, q, a, method=m),\n"
                    "             np.nanquantile(y, q, a, method=m),\n"
                    "             np.quantile(z, q, a, method=m))\n"
                    "result += (np.quantile(x, 0.3, 0, method=m, keepdims=True),\n"
                    "           np.percentile(x, 30, -1, method=m))",
                    method),
        {{"x", x.host}, {"y", nan.host}, {"z", whole.host}});
  }
}

TEST_CASE("quantiles keep NumPy's dtypes") {
  const Array x = hd::array<float>({1, 2, 4}), whole = hd::array<int>({1, 2, 4});
  check<float>(hd::quantile(x, 0.25), {}, {1.5f});
  check<double>(hd::quantile(x, hd::array<double>({0.25})), {1}, {1.5});
  check<double>(hd::quantile(whole, 0.25), {}, {1.5});
  check<int>(hd::quantile(whole, 0.25, {}, "lower"), {}, {1});
  check<int>(hd::quantile(whole, 1), {}, {4});
  check<float>(hd::nanpercentile(x, 50), {}, {2});
}

TEST_CASE("what quantiles cannot take") {
  const Array x = hd::array<float>({1, 2});
  CHECK(contains(message_of<hd::ValueError>([&] { hd::quantile(x, 1.5); }),
                 "quantile: q is 1.5, and must be in [0, 1] ("));
  CHECK_THROWS_AS(hd::percentile(x, -1), hd::ValueError);
  CHECK_THROWS_AS(hd::quantile(x, 0.5, {}, "middling"), hd::ValueError);
  CHECK_THROWS_AS(hd::quantile(x, 0.5, 1), hd::IndexError);
  CHECK_THROWS_AS(hd::median(x, {0, 0}), hd::ValueError);
  CHECK_THROWS_AS(hd::quantile(hd::zeros<float>({0}), 0.5), hd::IndexError);
}

TEST_CASE("inside jit, of symbolic lengths too") {
  const auto middle =
      hd::jit([](const hd::Array& x) { return hd::median(x, -1) + hd::quantile(x, 0.5, -1); });
  for (int n = 1; n < 12; ++n) {
    const Array x = hd::arange<double>(n).eval();
    CHECK(middle(x).item<double>() == n - 1);
  }
}

}  // namespace
}  // namespace heddle::test
