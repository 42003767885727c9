#include "against_numpy.h"

namespace heddle::test {
namespace {

std::vector<Array> parts(const Histogram& histogram) { return {histogram.counts, histogram.edges}; }

void check_histogram(const Histogram& ours, const std::string& code, const NumpyInputs& inputs,
                     double relative = 0) {
  check_like_numpy(parts(ours), "result = tuple(" + code + ")", inputs, Zeros::signed_, relative);
}

TEST_CASE("histograms of floats and integers, with ranges, densities and edges") {
  for (const DType dtype : {DType::i32, DType::u8, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    const Both x(moderate_sample(dtype, {30, 20}, 1));
    check_histogram(hd::histogram(x.array), "np.histogram(x)", {{"x", x.host}});
    check_histogram(hd::histogram(x.array, 7, {{-2, 5}}), "np.histogram(x, 7, (-2., 5.))",
                    {{"x", x.host}});
  }
  const Both x(moderate_sample(DType::f64, {500}, 2));
  const Array edges = hd::array<double>({-3, -1, -1, 0, 0.5, 4});
  check_histogram(hd::histogram(x.array, edges), "np.histogram(x, [-3, -1, -1, 0, 0.5, 4.])",
                  {{"x", x.host}});
  check_histogram(hd::histogram(x.array, 12, {}, true), "np.histogram(x, 12, density=True)",
                  {{"x", x.host}}, 1e-14);
  check_like_numpy({hd::histogram_bin_edges(x.array, 4)}, "result = np.histogram_bin_edges(x, 4)",
                   {{"x", x.host}});
}

TEST_CASE("elements on edges, outside, equal, and none") {
  const Array x = hd::array<double>({0, 1, 2, 3, 3, 9, -1, std::nan("")});
  check<std::int64_t>(hd::histogram(x, 3, {{0, 3}}).counts, {3}, {1, 1, 3});
  const Histogram same = hd::histogram(hd::full<double>({4}, 2.0), 2);
  check<std::int64_t>(same.counts, {2}, {0, 4});
  check<double>(same.edges, {3}, {1.5, 2, 2.5});
  check<std::int64_t>(hd::histogram(hd::zeros<float>({0}), 2).counts, {2}, {0, 0});
  CHECK_THROWS_AS(hd::histogram(x, 3), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram(x, 0), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram(x, 2, {{3, 1}}), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram(x, hd::zeros<double>({1})), hd::ShapeError);
}

TEST_CASE("inside jit nothing is waited for") {
  const auto counts = hd::jit([](const hd::Array& x) { return hd::histogram(x, 4).counts; });
  const Array x = hd::array<float>({0, 1, 2, 3, 4, 4}).eval();
  check<std::int64_t>(counts(x), {4}, {1, 1, 1, 3});
}

TEST_CASE("bincount counts, and checks what it is given") {
  const Both x(moderate_sample(DType::u8, {300}, 3));
  check_like_numpy({hd::bincount(x.array), hd::bincount(x.array, 300)},
                   "result = (np.bincount(x), np.bincount(x, minlength=300))", {{"x", x.host}});
  check<std::int64_t>(hd::bincount(hd::zeros<int>({0}), 2), {2}, {0, 0});
  CHECK(contains(message_of<hd::ValueError>([] { hd::bincount(hd::array<int>({1, -2})); }),
                 "bincount(i32[2]): -2 is negative ("));
  CHECK_THROWS_AS(hd::bincount(hd::zeros<float>({2})), hd::DTypeError);
  CHECK_THROWS_AS(hd::bincount(hd::zeros<int>({2, 2})), hd::ShapeError);
  CHECK_THROWS_AS(hd::bincount(hd::zeros<int>({2}), -1), hd::ValueError);
  const auto traced = hd::jit([](const hd::Array& a) { return hd::bincount(a); });
  CHECK_THROWS_AS(traced(hd::array<int>({1}).eval()), hd::TraceError);
}

}  // namespace
}  // namespace heddle::test
