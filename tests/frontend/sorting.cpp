#include <fmt/format.h>

#include "against_numpy.h"

namespace heddle::test {
namespace {

const std::vector<DType> kinds = {DType::boolean, DType::i32, DType::u64, DType::f16, DType::f64};

/// Few different values, NaN and both zeros among floats.
Both few_values(DType dtype, const ir::Shape& shape) {
  ir::HostArray array = sample(ir::Domain::any, 0, dtype, shape, 3);
  const std::size_t size = size_of(dtype), count = array.data.size() / size;
  for (std::size_t i = 12; i < count; ++i)
    std::memcpy(&array.data[i * size], &array.data[i * 7 % 12 * size], size);
  return Both(std::move(array));
}

TEST_CASE("sort and argsort, both ways, along every axis and flattened") {
  for (const DType dtype : kinds) {
    CAPTURE(name_of(dtype));
    const Both x = few_values(dtype, {7, 11, 5});
    std::vector<Array> ours;
    for (const Axes& axis : {Axes(0), Axes(1), Axes(-1), Axes()}) {
      for (const bool descending : {false, true}) {
        ours.push_back(hd::sort(x.array, axis, descending));
        ours.push_back(hd::argsort(x.array, axis, descending));
      }
    }
    check_like_numpy(ours,
                     "result = ()\n"
                     "for axis in (0, 1, 2, None):\n"
                     "  y = x.ravel() if axis is None else x\n"
                     "  k = 0 if axis is None else axis\n"
                     "  up = np.argsort(y, axis=k, kind='stable')\n"
                     "  z = np.flip(y, k)\n"
                     "  down = y.shape[k] - 1 - np.flip(np.argsort(z, axis=k, kind='stable'), k)\n"
                     "  for order in (up, down):\n"
                     "    result += (np.take_along_axis(y, order, k), order)\n",
                     {{"x", x.host}});
  }
}

TEST_CASE("sorts keep NumPy's dtype, and take what has no elements") {
  const hd::Array none = hd::zeros<float>({3, 0});
  check<float>(hd::sort(none), {3, 0}, {});
  check<std::int64_t>(hd::argsort(none, 1, true), {3, 0}, {});
  check<std::int64_t>(hd::argsort(none, hd::Axes(), true), {0}, {});
  check<float>(hd::sort(hd::full<float>({}, 2.0f), hd::Axes()), {1}, {2});
}

TEST_CASE("partitions are sorted, and check what they are asked for") {
  const hd::Array x = hd::array<int>({5, 1, 4, 2});
  check<int>(hd::partition(x, 1), {4}, {1, 2, 4, 5});
  check<std::int64_t>(hd::argpartition(x, -1), {4}, {1, 3, 2, 0});
  CHECK(contains(message_of<hd::ValueError>([&] { hd::partition(x, 4); }),
                 "partition(int32[4]): kth is 4, and axis 0 has 4 elements ("));
  CHECK_THROWS_AS(hd::argpartition(x, -5), hd::ValueError);
}

TEST_CASE("bad axes name the op and the line") {
  const hd::Array x = hd::zeros<float>({2, 3});
  const int line = __LINE__ + 1;
  const std::string message = message_of<hd::IndexError>([&] { hd::sort(x, 2); });
  CHECK(contains(message, line_mark(line)));
  CHECK_THROWS_AS(hd::sort(hd::full<float>({}, 1.0f)), hd::IndexError);
  check<std::int64_t>(hd::argsort(hd::full<float>({}, 1.0f)), {1}, {0});  // as numpy.argsort
  CHECK(contains(message_of<hd::ValueError>([&] { hd::sort(x, {0, 1}); }), "takes one axis"));
  const std::vector<std::int64_t> none;
  CHECK_THROWS_AS(hd::sort(x, none), hd::ValueError);
  CHECK_THROWS_AS(hd::argsort(x, none), hd::ValueError);
}

TEST_CASE("inside jit sorts are steps of the program, of symbolic lengths too") {
  const auto ranked = hd::jit([](const hd::Array& x) {
    return hd::sort(x * 2.0f, -1, true) + hd::argsort(x, -1, true).astype<float>();
  });
  const hd::Array x = hd::array<float>({3, 1, 2}).eval();
  check<float>(ranked(x), {3}, {6 + 0, 4 + 2, 2 + 1});
  CHECK(contains(ranked.ir(x), "argsort"));
  for (int n = 2; n < 12; ++n) {
    const hd::Array many = hd::arange(n).astype<float>().eval();
    CHECK(ranked(many)(0).item<float>() == static_cast<float>(2 * (n - 1) + n - 1));
  }
}

TEST_CASE("lexsort orders by the last key, then by those before") {
  const Both a = few_values(DType::i32, {4, 60}), b = few_values(DType::f64, {4, 60});
  const std::vector<Array> keys = {a.array, b.array, hd::flip(a.array, 1)};
  check_like_numpy({hd::lexsort(keys), hd::lexsort(keys, 0)},
                   "k = (a, b, np.flip(a, 1)); result = (np.lexsort(k), np.lexsort(k, 0))",
                   {{"a", a.host}, {"b", b.host}});
  const std::vector<Array> others = {a.array, hd::zeros<float>({4, 61})};
  CHECK_THROWS_AS(hd::lexsort(others), hd::ShapeError);
  CHECK_THROWS_AS(hd::lexsort({}), hd::ValueError);
}

TEST_CASE("topk gives values and places, the first of equal ones first") {
  const hd::Array x = hd::array<float>({{1, 5, 5, 2}, {4, 4, 0, 9}});
  const hd::TopK most = hd::topk(x, 2);
  check<float>(most.values, {2, 2}, {5, 5, 9, 4});
  check<std::int64_t>(most.indices, {2, 2}, {1, 2, 3, 0});
  const hd::TopK least = hd::topk(x, 1, 0, false);
  check<float>(least.values, {1, 4}, {1, 4, 0, 2});
  check<std::int64_t>(least.indices, {1, 4}, {0, 1, 1, 0});
  check<float>(hd::topk(x, 0).values, {2, 0}, {});
  CHECK_THROWS_AS(hd::topk(x, 5), hd::ValueError);
  CHECK_THROWS_AS(hd::topk(x, -1), hd::ValueError);
}

}  // namespace
}  // namespace heddle::test
