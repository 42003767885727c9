#include "against_numpy.h"

namespace heddle::test {
namespace {

TEST_CASE("searchsorted, of both sides, with sorters and mixed dtypes") {
  for (const DType dtype : {DType::boolean, DType::i16, DType::u64, DType::f32, DType::f64}) {
    CAPTURE(name_of(dtype));
    const Both x(sample(ir::Domain::any, 0, dtype, {200}, 1));
    const Both v(sample(ir::Domain::any, 1, dtype, {11, 13}, 2));
    const Array order = hd::argsort(x.array);
    check_like_numpy(
        {hd::searchsorted(hd::sort(x.array), v.array),
         hd::searchsorted(hd::sort(x.array), v.array, "right"),
         hd::searchsorted(x.array, v.array, "left", order),
         hd::searchsorted(x.array, v.array, "right", order)},
        "s = np.sort(x)\n"
        "both = (np.searchsorted(s, v), np.searchsorted(s, v, 'right')); result = both + both",
        {{"x", x.host}, {"v", v.host}});
  }
  const Array whole = hd::array<int>({1, 2, 3});
  check<std::int64_t>(hd::searchsorted(whole, 2.5), {}, {2});
  check<std::int64_t>(hd::searchsorted(whole, hd::array<double>({0.5, 3.0})), {2}, {0, 2});
  check<std::int64_t>(hd::searchsorted(hd::zeros<float>({0}), hd::array<float>({1, 2})), {2},
                      {0, 0});
}

TEST_CASE("what searches cannot take") {
  const Array x = hd::zeros<float>({3}), square = hd::zeros<float>({3, 3});
  CHECK(contains(message_of<hd::ShapeError>([&] { hd::searchsorted(square, x); }),
                 "the sorted array must be 1-d ("));
  CHECK_THROWS_AS(hd::searchsorted(x, x, "middle"), hd::ValueError);
  CHECK_THROWS_AS(hd::searchsorted(x, x, "left", hd::zeros<std::int64_t>({4})), hd::ShapeError);
  CHECK_THROWS_AS(hd::searchsorted(x, x, "left", x), hd::ShapeError);
}

TEST_CASE("digitize, with bins that rise and bins that fall") {
  const Both x(moderate_sample(DType::f64, {5, 40}, 3));
  const Both bins(moderate_sample(DType::f64, {9}, 4));
  const Array up = hd::sort(bins.array), down = hd::sort(bins.array, -1, true);
  check_like_numpy({hd::digitize(x.array, up), hd::digitize(x.array, up, true),
                    hd::digitize(x.array, down), hd::digitize(x.array, down, true)},
                   "u = np.sort(b); d = u[::-1]\n"
                   "result = (np.digitize(x, u), np.digitize(x, u, True),\n"
                   "          np.digitize(x, d), np.digitize(x, d, True))",
                   {{"x", x.host}, {"b", bins.host}});
}

TEST_CASE("a search fuses with the work around it") {
  const auto bin = hd::jit([](const hd::Array& edges, const hd::Array& x) {
    return hd::searchsorted(edges, x * 2.0f, "right") - 1;
  });
  const Array edges = hd::array<float>({0, 1, 2, 4}).eval();
  const Array x = hd::array<float>({0, 0.25f, 0.5f, 1.9f}).eval();
  check<std::int64_t>(bin(edges, x), {4}, {0, 0, 1, 2});
  CHECK(contains(bin.explain(edges, x), "1 kernels"));
}

}  // namespace
}  // namespace heddle::test
