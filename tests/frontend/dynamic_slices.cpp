// The C++ forms of slices with computed starts; tests/python/test_dynamic_slices.py holds them to
// NumPy.
#include <vector>

#include "against_numpy.h"

namespace heddle::test {
namespace {

TEST_CASE("dynamic_slice clamps its starts") {
  const Array x = hd::arange<double>(12).reshape({3, 4});
  const Array far = hd::array(std::int64_t{9}), last = hd::array(-1);
  check<double>(hd::dynamic_slice(x, {1, 2}, {2, 2}), {2, 2}, {6, 7, 10, 11});
  check<double>(hd::dynamic_slice(x, {far, last}, {2, 2}), {2, 2}, {6, 7, 10, 11});
  check<double>(hd::dynamic_slice(x, {hd::array(std::uint64_t{1} << 63), 0}, {1, 2}), {1, 2},
                {8, 9});
  check<double>(hd::dynamic_slice_in_dim(x, last, 2), {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11});
  check<double>(hd::dynamic_index_in_dim(x, hd::array(1), 1, false), {3}, {1, 5, 9});
  const auto read = hd::jit(
      [](const Array& a, const Array& start) { return hd::dynamic_slice(a, {start, 1}, {1, 3}); });
  check<double>(read(x, hd::array(1)), {1, 3}, {5, 6, 7});
  check<double>(read(x, hd::array(-3)), {1, 3}, {1, 2, 3});
}

TEST_CASE("dynamic_update_slice writes a copy") {
  const Array x = hd::zeros({2, 3});
  const Array one = hd::array(1);
  check<double>(hd::dynamic_update_slice(x, hd::array({{1.0, 2.0}}), {one, 5}), {2, 3},
                {0, 0, 0, 0, 1, 2});
  check<double>(hd::dynamic_update_slice_in_dim(x, hd::ones({2, 1}), one, -1), {2, 3},
                {0, 1, 0, 0, 1, 0});
  check<double>(hd::dynamic_update_index_in_dim(x, hd::array({7.0, 8.0, 9.0}), one, 0), {2, 3},
                {0, 0, 0, 7, 8, 9});
  check<double>(x, {2, 3}, std::vector<double>(6, 0));
}

TEST_CASE("slices of another rank, size or dtype are refused") {
  const Array x = hd::ones({3, 4});
  CHECK_THROWS_AS(hd::dynamic_slice(x, {0}, {2, 2}), hd::ShapeError);
  CHECK_THROWS_AS(hd::dynamic_slice(x, {0, 0}, {4, 2}), hd::ShapeError);
  CHECK_THROWS_AS(hd::dynamic_slice(x, {0, 0.5}, {2, 2}), hd::DTypeError);
  CHECK_THROWS_AS(hd::dynamic_slice(x, {0, hd::ones({})}, {2, 2}), hd::DTypeError);
  CHECK_THROWS_AS(hd::dynamic_update_slice(x, hd::ones<float>({1, 1}), {0, 0}), hd::DTypeError);
  CHECK_THROWS_AS(hd::dynamic_update_slice(x, hd::ones({3}), {0, 0}), hd::ShapeError);
  CHECK_THROWS_AS(hd::dynamic_slice_in_dim(x, 0, 1, 2), hd::AxisError);
}

}  // namespace
}  // namespace heddle::test
