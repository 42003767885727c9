#include "against_numpy.h"

namespace heddle::test {
namespace {

const std::vector<DType> kinds = {DType::boolean, DType::u8, DType::i64, DType::f16, DType::f64};

Both few_values(DType dtype, const ir::Shape& shape, std::size_t count) {
  ir::HostArray array = sample(ir::Domain::any, 1, dtype, shape, 3);
  const std::size_t size = size_of(dtype), elements = array.data.size() / size;
  for (std::size_t i = count; i < elements; ++i)
    std::memcpy(&array.data[i * size], &array.data[i * 7 % count * size], size);
  return Both(std::move(array));
}

// Which of a zero's signs stands for both NumPy leaves to its sorts, which are not stable here.
TEST_CASE("the distinct elements, with where and how often they are") {
  for (const DType dtype : kinds) {
    CAPTURE(name_of(dtype));
    const Both x = few_values(dtype, {9, 14}, 25);
    const UniqueAll all = hd::unique_all(x.array), nan = hd::unique_all(x.array, true);
    const UniqueCounts counts = hd::unique_counts(x.array);
    const UniqueInverse inverse = hd::unique_inverse(x.array);
    check_like_numpy(
        {all.values, all.indices, all.inverse_indices, all.counts, nan.values, nan.indices,
         nan.inverse_indices, nan.counts, counts.values, counts.counts, inverse.values,
         inverse.inverse_indices, hd::unique_values(x.array), hd::unique(x.array)},
        "a = tuple(np.unique_all(x))\n"
        "n = np.unique(x, True, True, True)\n"
        "i = np.unique(x, True, True, equal_nan=False)\n"
        "result = a + n + tuple(np.unique_counts(x)) + (i[0], i[2])\n"
        "result += (np.unique_values(x), np.unique(x))\n"
        "result = tuple(np.sort(r) if k == 12 else r for k, r in enumerate(result))",
        {{"x", x.host}}, Zeros::alike);
  }
}

TEST_CASE("a difference of unique elements stays in order") {
  const Array x = hd::array({5, 3, 1, 3, 2}), y = hd::array({3, 7});
  check<int>(hd::setdiff1d(x, y), {3}, {1, 2, 5});
  check<int>(hd::setdiff1d(x, y, true), {3}, {5, 1, 2});
  check<int>(hd::setdiff1d(x, y(hd::slice(0)), true), {5}, {5, 3, 1, 3, 2});
}

TEST_CASE("the distinct slices along an axis, with where and how often they are") {
  for (const DType dtype : kinds) {
    CAPTURE(name_of(dtype));
    const Both x = few_values(dtype, {3, 60, 2}, 3), wide = few_values(dtype, {20, 7}, 2);
    std::vector<Array> ours;
    const auto add = [&](const Array& array, std::int64_t axis) {
      const UniqueAll all = hd::unique_all(array, true, axis);
      ours.insert(ours.end(), {all.values, all.indices, all.inverse_indices, all.counts});
    };
    for (const std::int64_t axis : {0, 1, -1}) add(x.array, axis);
    for (const std::int64_t axis : {0, 1}) add(wide.array, axis);
    ours.push_back(hd::unique(wide.array, true, 0));
    ours.push_back(hd::unique_inverse(wide.array, true, 1).inverse_indices);
    check_like_numpy(
        ours,
        "result = sum((np.unique(x, True, True, True, axis=k) for k in (0, 1, -1)), ())\n"
        "result += sum((np.unique(w, True, True, True, axis=k) for k in (0, 1)), ())\n"
        "result += (np.unique(w, axis=0), np.unique(w, False, True, axis=1)[1])",
        {{"x", x.host}, {"w", wide.host}}, Zeros::alike);
  }
  CHECK(hd::unique(hd::zeros<float>({0, 3}), true, 0).shape() == Shape{0, 3});
  CHECK(hd::unique(hd::zeros<float>({3, 0}), true, 0).shape() == Shape{1, 0});
  CHECK_THROWS_AS(hd::unique(hd::zeros<float>({3, 2}), true, 2), hd::IndexError);
  const auto traced = hd::jit([](const hd::Array& a) { return hd::unique(a, true, 0); });
  CHECK_THROWS_AS(traced(hd::zeros<int>({2, 2}).eval()), hd::TraceError);
}

TEST_CASE("the distinct elements of nothing, and of one") {
  const UniqueAll none = hd::unique_all(hd::zeros<float>({0, 3}));
  check<float>(none.values, {0}, {});
  check<std::int64_t>(none.indices, {0}, {});
  check<std::int64_t>(none.inverse_indices, {0, 3}, {});
  check<std::int64_t>(none.counts, {0}, {});
  const UniqueAll one = hd::unique_all(hd::full<int>({}, 7));
  check<int>(one.values, {1}, {7});
  check<std::int64_t>(one.inverse_indices, {}, {0});
  check<std::int64_t>(one.counts, {1}, {1});
}

TEST_CASE("sets of two arrays") {
  for (const DType dtype : kinds) {
    CAPTURE(name_of(dtype));
    const Both a = few_values(dtype, {60}, 30), b = few_values(dtype, {5, 7}, 18);
    const Intersection both = hd::intersect1d_indices(a.array, b.array);
    check_like_numpy({hd::isin(b.array, a.array), hd::isin(a.array, b.array, true),
                      hd::intersect1d(a.array, b.array), both.values, both.indices_a,
                      both.indices_b, hd::union1d(a.array, b.array),
                      hd::setdiff1d(a.array, b.array), hd::setxor1d(a.array, b.array)},
                     "result = (np.isin(b, a), np.isin(a, b, invert=True), np.intersect1d(a, b))\n"
                     "result += np.intersect1d(a, b, return_indices=True)\n"
                     "result += (np.union1d(a, b), np.setdiff1d(a, b), np.setxor1d(a, b))",
                     {{"a", a.host}, {"b", b.host}}, Zeros::alike);
  }
}

TEST_CASE("sets of mixed dtypes, and of nothing") {
  const Array a = hd::array<int>({3, 1, 3}), b = hd::array<double>({1, 2.5});
  check<double>(hd::union1d(a, b), {3}, {1, 2.5, 3});
  check<int>(hd::setdiff1d(a, b), {1}, {3});
  check<bool>(hd::isin(a, 3), {3}, {true, false, true});
  const Array none = hd::zeros<int>({0});
  check<bool>(hd::isin(a, none), {3}, {false, false, false});
  check<int>(hd::intersect1d(a, none), {0}, {});
  check<int>(hd::setxor1d(a, none), {2}, {1, 3});
  check<int>(hd::setxor1d(none, none), {0}, {});
}

TEST_CASE("inside jit, where sizes are not known, only isin has a meaning") {
  const Array x = hd::array<float>({2, 1, 2}).eval();
  const auto among = hd::jit([](const hd::Array& a) { return hd::isin(a, a * 2.0f); });
  check<bool>(among(x), {3}, {true, false, true});
  const auto values = hd::jit([](const hd::Array& a) { return hd::unique(a); });
  CHECK(contains(message_of<hd::TraceError>([&] { values(x); }), "unique reads a value"));
}

}  // namespace
}  // namespace heddle::test
