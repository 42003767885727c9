#include <cstdlib>
#include <filesystem>

#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::message_of;

namespace {

hd::Array grid() { return hd::arange<int>(6).reshape({2, 3}); }

}  // namespace

TEST_CASE("reshape finds one extent") {
  check<int>(grid().reshape({3, -1}), {3, 2}, {0, 1, 2, 3, 4, 5});
  check<int>(grid().ravel(), {6}, {0, 1, 2, 3, 4, 5});
  CHECK(contains(message_of<hd::ShapeError>([] { grid().reshape({4, -1}); }),
                 "6 elements do not divide by 4"));
  CHECK_THROWS_AS(grid().reshape({-1, -1}), hd::ShapeError);
  CHECK_THROWS_AS(grid().reshape({7}), hd::ShapeError);
  CHECK_THROWS_AS(hd::zeros({0, 2}).reshape({0, -1}), hd::ShapeError);
}

TEST_CASE("axes move") {
  check<int>(grid().T(), {3, 2}, {0, 3, 1, 4, 2, 5});
  const hd::Array x = hd::arange<int>(24).reshape({2, 3, 4});
  CHECK(x.transpose({2, 0, 1}).shape() == hd::Shape{4, 2, 3});
  CHECK(x.swapaxes(0, -1).shape() == hd::Shape{4, 3, 2});
  CHECK(hd::moveaxis(x, 0, -1).shape() == hd::Shape{3, 4, 2});
  CHECK(hd::moveaxis(x, {0, 1}, {-1, 0}).shape() == hd::Shape{3, 4, 2});
  CHECK(hd::expand_dims(x, {0, -1}).shape() == hd::Shape{1, 2, 3, 4, 1});
  CHECK(hd::expand_dims(x, 1).squeeze().shape() == x.shape());
  CHECK_THROWS_AS(x.squeeze(0), hd::ShapeError);
  CHECK_THROWS_AS(x.transpose({0, 0, 1}), hd::ValueError);
  CHECK_THROWS_AS(x.swapaxes(0, 3), hd::IndexError);
  CHECK(x.transpose({2, 0, 1})(1, 1, 2).item<int>() == x(1, 2, 1).item<int>());
}

TEST_CASE("flips and broadcasts") {
  check<int>(hd::flip(grid()), {2, 3}, {5, 4, 3, 2, 1, 0});
  check<int>(hd::flip(grid(), 1), {2, 3}, {2, 1, 0, 5, 4, 3});
  check<int>(hd::broadcast_to(hd::array({1, 2}), {2, 2}), {2, 2}, {1, 2, 1, 2});
  CHECK_THROWS_AS(hd::broadcast_to(grid(), {3}), hd::ShapeError);
}

TEST_CASE("arrays join") {
  const hd::Array x = grid();
  check<int>(hd::concatenate({x, x(hd::slice(1))}), {3, 3}, {0, 1, 2, 3, 4, 5, 0, 1, 2});
  check<int>(hd::concatenate({x, x(hd::_, hd::slice(1))}, -1), {2, 4}, {0, 1, 2, 0, 3, 4, 5, 3});
  check<double>(hd::concatenate({hd::array({1}), hd::array({0.5})}), {2}, {1, 0.5});
  check<int>(hd::stack({hd::array({1, 2}), hd::array({3, 4})}, 1), {2, 2}, {1, 3, 2, 4});
  CHECK_THROWS_AS(hd::concatenate({x, hd::array({1})}), hd::ShapeError);
  CHECK_THROWS_AS(hd::stack({hd::array({1}), hd::array({1, 2})}), hd::ShapeError);
  CHECK_THROWS_AS(hd::concatenate(std::vector<hd::Array>{}), hd::ValueError);
}

TEST_CASE("reductions over axes") {
  const hd::Array x = grid();
  check<std::int64_t>(hd::sum(x), {}, {15});
  check<std::int64_t>(hd::sum(x, 0), {3}, {3, 5, 7});
  check<std::int64_t>(hd::sum(x, {-1}, true), {2, 1}, {3, 12});
  check<std::int64_t>(x.sum({0, 1}), {}, {15});
  check<int>(x.max(1), {2}, {2, 5});
  check<int>(x.min(), {}, {0});
  check<std::uint64_t>(hd::prod(hd::array<std::uint8_t>({20, 20})), {}, {400});
  check<double>(x.mean(1), {2}, {1, 4});
  check<double>(hd::var(x, 1), {2}, {2.0 / 3, 2.0 / 3});
  check<double>(hd::std(hd::array({1.0, 3.0}), {}, 1), {}, {std::sqrt(2.0)});
  check<float>(hd::mean(hd::array({1.0f, 2.0f})), {}, {1.5f});
  CHECK(hd::mean(hd::full({3}, 60000.0f).astype(hd::float16)).item<float>() == 60000.0f);
  check<bool>(hd::any(x, 0), {3}, {true, true, true});
  check<bool>(hd::all(x, 0), {3}, {false, true, true});
  check<std::int64_t>(hd::count_nonzero(x), {}, {5});
  check<std::int64_t>(hd::argmax(x), {}, {5});
  check<std::int64_t>(hd::argmin(x, 1, true), {2, 1}, {0, 0});
  check<std::int64_t>(hd::argmax(x, {}, true), {1, 1}, {5});
  check<std::int64_t>(hd::sum(hd::array(std::vector<bool>{true, true})), {}, {2});
  check<double>(hd::sum(hd::array(2.5)), {}, {2.5});
  check<bool>(hd::any(hd::array(2.5)), {}, {true});
  check<std::int64_t>(hd::argmax(hd::array(2.5)), {}, {0});
  check<double>(hd::sum(hd::zeros({0, 2}), 0), {2}, {0, 0});
}

TEST_CASE("reductions refuse what NumPy refuses") {
  const hd::Array x = grid();
  CHECK_THROWS_AS(hd::sum(x, 2), hd::IndexError);
  CHECK_THROWS_AS(hd::sum(x, {0, -2}), hd::ValueError);
  CHECK_THROWS_AS(hd::max(hd::zeros({0})), hd::ValueError);
  CHECK_THROWS_AS(hd::argmax(x, {0, 1}), hd::ValueError);
}

TEST_CASE("products of matrices and vectors") {
  const hd::Array a = hd::array<float>({1, 2, 3, 4}, {2, 2}), v = hd::array<float>({1, 10});
  check<float>(hd::matmul(a, a), {2, 2}, {7, 10, 15, 22});
  check<float>(hd::matmul(a, v), {2}, {21, 43});
  check<float>(hd::matmul(v, a), {2}, {31, 42});
  check<float>(hd::matmul(v, v), {}, {101});
  check<float>(hd::dot(v, v), {}, {101});
  check<float>(hd::dot(a, 2.0f), {2, 2}, {2, 4, 6, 8});
  check<float>(hd::outer(v, v), {2, 2}, {1, 10, 10, 100});
  check<float>(hd::vecdot(a, v), {2}, {21, 43});
  CHECK(hd::matmul(hd::zeros({5, 1, 2, 3}), hd::zeros({4, 3, 6})).shape() == hd::Shape{5, 4, 2, 6});
  const hd::Array b = hd::arange<float>(24).reshape({2, 3, 4});
  const hd::Array c = hd::arange<float>(8).reshape({4, 2});
  CHECK(hd::dot(b, c).shape() == hd::Shape{2, 3, 2});
  CHECK(hd::dot(b, c)(1, 2, 1).item<float>() == 20 * 1 + 21 * 3 + 22 * 5 + 23 * 7);
  CHECK(contains(message_of<hd::ShapeError>([&] { hd::matmul(a, hd::zeros<float>({3})); }),
                 "matmul(float32[2,2], float32[3])"));
  CHECK_THROWS_AS(hd::matmul(a, 2), hd::ShapeError);
}

TEST_CASE("values convert") {
  const hd::Array x = hd::array({1.5, -2.5});
  CHECK(x.to_vector<int>() == std::vector<int>{1, -2});
  CHECK(x(0).item<bool>());
  CHECK(static_cast<double>(x(1)) == -2.5);
  CHECK_THROWS_AS(x.item<double>(), hd::ValueError);
  check<std::uint8_t>(hd::array({1.9, 3.2}).astype<std::uint8_t>(), {2}, {1, 3});
  CHECK(x.nbytes() == 16);
  CHECK(x.ndim() == 1);
  CHECK(x.shape(-1) == 2);
}

TEST_CASE("HEDDLE_NO_SYNC forbids waiting") {
  // The switch is read once a process, so another one looks at it.
  if (std::getenv("HEDDLE_TEST_NO_SYNC") != nullptr) {
    const hd::Array x = hd::ones({2}).eval();
    CHECK(contains(message_of<hd::ValueError>([&] { x.to_vector<double>(); }), "HEDDLE_NO_SYNC"));
    CHECK_THROWS_AS(x(0).item<double>(), hd::ValueError);
    CHECK_THROWS_AS(hd::to_string(x), hd::ValueError);
    return;
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "HEDDLE_TEST_NO_SYNC=1 HEDDLE_NO_SYNC=1 '" + self +
                              "' --test-case='HEDDLE_NO_SYNC forbids waiting' >/dev/null";
  CHECK(std::system(command.c_str()) == 0);
}
