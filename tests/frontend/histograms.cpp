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

TEST_CASE("histograms of weights, in their dtype") {
  const Both x(moderate_sample(DType::f64, {40, 50}, 2));
  const Both whole(moderate_sample(DType::i8, {40, 50}, 5));  // whose sums are exact
  for (const auto& [dtype, name] : {std::pair{DType::boolean, "bool"},
                                    {DType::i16, "int16"},
                                    {DType::f16, "float16"},
                                    {DType::f32, "float32"},
                                    {DType::f64, "float64"},
                                    {DType::c64, "complex64"}}) {
    CAPTURE(name);
    check_histogram(hd::histogram(x.array, 30, {{-3, 3}}, false, whole.array.astype(dtype)),
                    std::string("np.histogram(x, 30, (-3., 3.), weights=w.astype('") + name + "'))",
                    {{"x", x.host}, {"w", whole.host}});
  }
  const Both w(moderate_sample(DType::f64, {40, 50}, 5));
  const Array edges = hd::array<double>({-3, -1, -1, 0, 0.5, 4});
  check_histogram(hd::histogram(x.array, edges, true, hd::absolute(w.array)),
                  "np.histogram(x, [-3, -1, -1, 0, 0.5, 4.], density=True, weights=abs(w))",
                  {{"x", x.host}, {"w", w.host}}, 1e-12);
  CHECK_THROWS_AS(hd::histogram(x.array, 3, {}, false, hd::ones<float>({2000})), hd::ShapeError);
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

std::vector<Array> parts(const PointHistogram& found) {
  std::vector<Array> result{found.counts};
  result.insert(result.end(), found.edges.begin(), found.edges.end());
  return result;
}

TEST_CASE("histograms of points") {
  for (const DType dtype : {DType::i32, DType::u8, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    const Both p(moderate_sample(dtype, {400, 3}, 4));
    check_like_numpy(parts(hd::histogramdd(p.array, {3, 4, 2})),
                     "h, e = np.histogramdd(p, (3, 4, 2)); result = (h, *e)", {{"p", p.host}});
    check_like_numpy(parts(hd::histogram2d(p.array(hd::_, 0), p.array(hd::_, 2), {5})),
                     "result = np.histogram2d(p[:, 0], p[:, 2], 5)", {{"p", p.host}});
  }
  const Both p(moderate_sample(DType::f64, {500, 2}, 2)), w(moderate_sample(DType::f32, {500}, 3));
  const Array edges = hd::array<double>({-3, -1, -1, 0, 0.5, 4});
  check_like_numpy(parts(hd::histogramdd(p.array, {edges, 4}, {{}, {{-1, 2}}})),
                   "h, e = np.histogramdd(p, ([-3, -1, -1, 0, 0.5, 4.], 4), [None, (-1., 2.)])\n"
                   "result = (h, *e)",
                   {{"p", p.host}});
  check_like_numpy(parts(hd::histogramdd(p.array, {3}, {}, true, hd::absolute(w.array))),
                   "h, e = np.histogramdd(p, 3, density=True, weights=abs(w)); result = (h, *e)",
                   {{"p", p.host}, {"w", w.host}}, Zeros::signed_, 1e-12);
  check_like_numpy(parts(hd::histogramdd(p.array(hd::_, 1), {7})),
                   "h, e = np.histogramdd(p[:, 1], 7); result = (h, *e)", {{"p", p.host}});
  check_like_numpy(parts(hd::histogramdd(p.array(hd::slice(0)), {2, 3})),
                   "h, e = np.histogramdd(p[:0], (2, 3)); result = (h, *e)", {{"p", p.host}});
  const Array one_edge = hd::array<double>({1});
  CHECK(hd::histogramdd(p.array, {one_edge, 3}).counts.shape() == Shape{0, 3});
}

TEST_CASE("points in no bin, and what histograms of points refuse") {
  const double nan = std::nan("");
  const Array x = hd::array<double>({0, 1, 2, nan, -1, 3}),
              y = hd::array<double>({0, 2, 5, 0, 0, 1});
  check<double>(hd::histogram2d(x, y, {2, 1}, {{{0, 2}}, {{0, 2}}}).counts, {2, 1}, {1, 1});
  CHECK_THROWS_AS(hd::histogram2d(x, y), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {0}), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {1, 2, 3}), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {2}, {{{3, 1}}, {}}), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {2}, {{{1, 3}}}), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram2d(y, y(hd::slice(3))), hd::ShapeError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {2}, {}, false, y(hd::slice(3))), hd::ShapeError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {2, hd::zeros<double>({0})}), hd::ShapeError);
  const Array falling = hd::array<double>({0, 2, 1});
  CHECK_THROWS_AS(hd::histogram(y, falling), hd::ValueError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {2, falling}), hd::ValueError);
  CHECK_THROWS_AS(hd::histogramdd(hd::zeros<double>({2, 2, 2})), hd::ShapeError);
  CHECK_THROWS_AS(hd::histogramdd(hd::zeros<double>({3, 0})), hd::ValueError);
  const Array complexes = hd::zeros({6}, DType::c64);
  CHECK_THROWS_AS(hd::histogram2d(y, complexes), hd::DTypeError);
  CHECK_THROWS_AS(hd::histogram2d(y, y, {2}, {}, false, complexes), hd::DTypeError);
  CHECK_THROWS_AS(hd::histogram(complexes), hd::DTypeError);
  CHECK_THROWS_AS(hd::histogram_bin_edges(complexes), hd::DTypeError);
  const std::vector<Bins> many(4, 1 << 20);
  const Array points = hd::zeros<double>({2, 4});
  CHECK_THROWS_AS(hd::histogramdd(points, many), hd::ShapeError);
}

TEST_CASE("inside jit nothing is waited for") {
  const auto grid = hd::jit([](const hd::Array& p) { return hd::histogramdd(p, {2, 2}).counts; });
  const Array points = hd::array<float>({0, 0, 1, 1, 4, 0, 4, 3}, {4, 2}).eval();
  check<double>(grid(points), {2, 2}, {2, 0, 1, 1});
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
                 "bincount(int32[2]): -2 is negative ("));
  CHECK_THROWS_AS(hd::bincount(hd::zeros<float>({2})), hd::DTypeError);
  CHECK_THROWS_AS(hd::bincount(hd::zeros<int>({2, 2})), hd::ShapeError);
  CHECK_THROWS_AS(hd::bincount(hd::zeros<int>({2}), -1), hd::ValueError);
  CHECK_THROWS_AS(hd::bincount(hd::zeros<int>({2}), 0, hd::ones<double>({1})), hd::ShapeError);
  CHECK_THROWS_AS(hd::bincount(hd::zeros<int>({2}), 0, hd::zeros({2}, DType::c64)), hd::DTypeError);
  const auto traced = hd::jit([](const hd::Array& a) { return hd::bincount(a); });
  CHECK_THROWS_AS(traced(hd::array<int>({1}).eval()), hd::TraceError);
}

TEST_CASE("a sum of weights is as accurate as if its bin stood alone, and the same in every run") {
  // Beside 1e16 a difference of running sums would keep nothing of these.
  constexpr std::int64_t count = 200'000, bins = 300;
  const Array place = hd::arange(0, count, 1, DType::i64);
  const Array key = hd::remainder(place * 7919, bins);
  const Array weights = hd::where(hd::equal(key, 0), 1e16, 1.0 / (place + 1)).eval();
  const Array sums = hd::bincount(key, bins, weights);
  std::vector<long double> expected(bins);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bin = static_cast<std::size_t>(i * 7919 % bins);
    expected[bin] += bin == 0 ? 1e16L : 1 / static_cast<long double>(i + 1);
  }
  const std::vector<double> found = sums.to_vector<double>();
  for (std::size_t bin = 0; bin < found.size(); ++bin) {
    REQUIRE(std::abs(found[bin] - static_cast<double>(expected[bin])) <=
            8 * 2.3e-16 * static_cast<double>(expected[bin]));
  }
  CHECK(hd::bincount(key, bins, weights).to_vector<double>() == found);
}

}  // namespace
}  // namespace heddle::test
