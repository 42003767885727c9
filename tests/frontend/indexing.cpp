#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::line_mark;
using hd::test::message_of;

namespace {

hd::Array grid() { return hd::arange<int>(12).reshape({3, 4}); }

}  // namespace

TEST_CASE("integers, slices, newaxis and ellipsis read as in NumPy") {
  const hd::Array x = grid();
  check<int>(x(1), {4}, {4, 5, 6, 7});
  check<int>(x(-1, -1), {}, {11});
  check<int>(x(hd::_, 2), {3}, {2, 6, 10});
  check<int>(x(hd::slice(1, hd::none), hd::slice(0, 4, 2)), {2, 2}, {4, 6, 8, 10});
  check<int>(x(0, hd::slice(hd::none, hd::none, -1)), {4}, {3, 2, 1, 0});
  check<int>(x(0, hd::slice(3, 0, -2)), {2}, {3, 1});
  check<int>(x(0, hd::slice(-100, 100)), {4}, {0, 1, 2, 3});
  check<int>(x(0, hd::slice(2)), {2}, {0, 1});
  check<int>(x(hd::slice(2, 1)), {0, 4}, {});
  check<int>(x(hd::newaxis, 0, hd::slice(2), hd::newaxis), {1, 2, 1}, {0, 1});
  check<int>(x(hd::ellipsis, 0), {3}, {0, 4, 8});
  check<int>(x(0, hd::ellipsis), {4}, {0, 1, 2, 3});
  check<int>(x(0, hd::slice(hd::none, hd::none, 100)), {1}, {0});
  check<int>(x.index({1, 1}), {}, {5});
}

TEST_CASE("subscripts out of range name axis, index and extent") {
  const hd::Array x = grid();
  const std::string text = message_of<hd::IndexError>([&] { x(0, 4); });
  CHECK(contains(text, "index 4 is out of bounds for axis 1"));
  CHECK(contains(text, "extent is 4"));
  CHECK(contains(text, line_mark(__LINE__ - 3)));
  CHECK_THROWS_AS(x(0, 0, 0), hd::IndexError);
  CHECK_THROWS_AS(x(-4), hd::IndexError);
  CHECK_THROWS_AS(x(hd::ellipsis, hd::ellipsis), hd::IndexError);
  CHECK_THROWS_AS(x(hd::slice(0, 2, 0)), hd::ValueError);
}

TEST_CASE("at writes into the array and into no other") {
  hd::Array x = grid();
  const hd::Array before = x;
  x.at(0) = 9;
  x.at(hd::slice(1, hd::none), 0) = hd::array({-1, -2});
  x.at(1, 1) = hd::array(7);
  check<int>(x, {3, 4}, {9, 9, 9, 9, -1, 7, 6, 7, -2, 9, 10, 11});
  check<int>(before, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  x.at(hd::_, hd::slice(hd::none, hd::none, -2)) = hd::array({{1, 2}});
  check<int>(x, {3, 4}, {9, 2, 9, 1, -1, 2, 6, 1, -2, 2, 10, 1});
  x.at(hd::ellipsis) = 0;
  check<int>(x, {3, 4}, std::vector<int>(12, 0));
}

TEST_CASE("at updates in place and takes values of other dtypes") {
  hd::Array x = grid();
  x.at(0) += 10;
  x.at(1) *= x(2);
  x.at(2) -= hd::array({1, 2, 3, 4});
  check<int>(x, {3, 4}, {10, 11, 12, 13, 32, 45, 60, 77, 7, 7, 7, 7});
  x.at(0, 0) = 2.9;
  CHECK(x(0, 0).item<int>() == 2);
  x.at(0) = x.at(2);
  CHECK(x(0, 1).item<int>() == 7);
  CHECK_THROWS_AS(x.at(0) /= 2, hd::DTypeError);
  CHECK_THROWS_AS(x.at(0) = hd::array({1, 2, 3}), hd::ShapeError);
  CHECK_THROWS_AS(x.at(3) = 0, hd::IndexError);
}

TEST_CASE("newaxis and integers mix in writes") {
  hd::Array x = hd::zeros<int>({2, 3});
  x.at(1, hd::newaxis, hd::slice(0, 2)) = hd::array({{5, 6}});
  check<int>(x, {2, 3}, {0, 0, 0, 5, 6, 0});
}

TEST_CASE("an index that is known to be outside throws when it is recorded") {
  const hd::Array x = hd::arange<int>(0, 20).reshape({4, 5});
  check<int>(x(hd::index_list({2, -4}), hd::_), {2, 5}, {10, 11, 12, 13, 14, 0, 1, 2, 3, 4});
  CHECK(x(hd::_, hd::index_list({})).shape() == hd::Shape{4, 0});
  CHECK(contains(message_of<hd::IndexError>([&] { x(hd::_, hd::index_list({0, 5, 1})); }),
                 "index 5 is out of bounds for axis 1 of int32[4,5], whose extent is 5 ("));
  CHECK_THROWS_AS(x(hd::index_list({0, -5})), hd::IndexError);
  hd::Array y = x;
  CHECK_THROWS_AS((y.at(hd::index_list({4})) = 1), hd::IndexError);
  y.at(hd::index_list({3}), 0) = -1;
  CHECK(y(3, 0).item<int>() == -1);
  CHECK_THROWS_AS(hd::take(x, 20), hd::IndexError);
  CHECK_THROWS_AS(hd::take(x, -5, 0), hd::IndexError);
  CHECK(hd::take(x, 9, 0, "clip").shape() == hd::Shape{5});
}

TEST_CASE("a mask fits any axis where it has an extent of 0") {
  const auto none = [](const hd::Shape& shape) { return hd::zeros<bool>(shape); };
  CHECK(hd::zeros<int>({0, 1})(none({0, 0})).shape() == hd::Shape{0});
  CHECK(hd::zeros<int>({5, 2})(none({0})).shape() == hd::Shape{0, 2});
  CHECK(hd::zeros<int>({2, 3, 4})(none({2, 0})).shape() == hd::Shape{0, 4});
  CHECK_THROWS_AS(hd::zeros<int>({0, 3})(none({0, 2})), hd::IndexError);
  CHECK_THROWS_AS(hd::zeros<int>({0, 3})(none({5, 0})), hd::IndexError);
  hd::Array x = hd::ones<int>({5, 2});
  x.at(none({0, 0})) = 7;
  check<std::int64_t>(hd::sum(x), {}, {10});
}

TEST_CASE("masks choose elements or leading rows") {
  hd::Array x = hd::arange<int>(6).reshape({2, 3});
  x.at(x > 3) = 0;
  check<int>(x, {2, 3}, {0, 1, 2, 3, 0, 0});
  x.at(hd::array(std::vector<bool>{false, true})) = hd::array({7, 8, 9});
  check<int>(x, {2, 3}, {0, 1, 2, 7, 8, 9});
  x.at(x == 7) += 100;
  check<int>(x, {2, 3}, {0, 1, 2, 107, 8, 9});
  CHECK_THROWS_AS(x.at(hd::array(std::vector<bool>{true})) = 1, hd::IndexError);
  CHECK_THROWS_AS(x.at(hd::array({1.0, 2.0})) = 1, hd::IndexError);
  check<int>(x(x > 1), {4}, {2, 107, 8, 9});
  x.at(x > 1) = hd::array({1, 2, 3, 4});
  check<int>(x, {2, 3}, {0, 1, 1, 2, 3, 4});
  CHECK_THROWS_AS(x.at(x > 1) = hd::array({1, 2}), hd::ShapeError);
}

TEST_CASE("arrays of integers pick, and write, as in NumPy") {
  hd::Array x = grid();
  const hd::Array rows = hd::array({2, 0}), columns = hd::array({{1}, {-1}});
  check<int>(x(rows), {2, 4}, {8, 9, 10, 11, 0, 1, 2, 3});
  check<int>(x(rows, columns), {2, 2}, {9, 1, 11, 3});
  check<int>(x(hd::slice(1, hd::none), columns), {2, 2, 1}, {5, 7, 9, 11});
  check<int>(x(1, columns), {2, 1}, {5, 7});
  check<int>(x(rows, hd::newaxis, 0), {2, 1}, {8, 0});
  check<int>(x(hd::array(1), hd::array(2)), {}, {6});
  x.at(rows, 0) = hd::array({100, 200});
  check<int>(x(hd::_, 0), {3}, {200, 4, 100});
  x.at(hd::array({1, 1, 1}), hd::slice(1, 3)) = hd::array({{1, 2}, {3, 4}, {5, 6}});
  check<int>(x(1), {4}, {4, 5, 6, 7});
  x.at(rows) += 1;
  check<int>(x(hd::_, 3), {3}, {4, 7, 12});
  CHECK_THROWS_AS(x(hd::array({0, 1}), hd::array({0, 1, 2})), hd::IndexError);
  CHECK_THROWS_AS(x.at(rows) = hd::array({1, 2, 3}), hd::ShapeError);
}

TEST_CASE("what an index outside of its axis does is the same on every device") {
  hd::Array x = hd::arange<int>(4);
  const hd::Array far = hd::array<std::int64_t>({-5, 4, 1ll << 40, -(1ll << 40)});
  check<int>(x(far), {4}, {0, 3, 3, 0});
  x.at(far) = 9;
  check<int>(x, {4}, {0, 1, 2, 3});
  check<int>(hd::take(x, far, 0, "wrap"), {4}, {3, 0, 0, 0});
  check<int>(hd::take(x, far, 0, "clip"), {4}, {0, 3, 3, 0});
}

TEST_CASE("a gather and what is around it are one kernel") {
  const auto rows = hd::jit([](const hd::Array& table, const hd::Array& index) {
    return hd::sum(hd::exp(table)(index + 1) * 2.0f, 1);
  });
  CHECK(rows.lower({hd::spec<float>({1000, 64}), hd::spec<int>({32})}).kernel_count() == 1);
}

TEST_CASE("sizes that depend on the data end a trace with what to do") {
  const auto picks = hd::jit([](const hd::Array& x) { return x(x > 0); });
  const std::string text = message_of<hd::TraceError>([&] { picks(hd::arange<int>(3)); });
  CHECK(contains(text, "where()"));
  const auto writes = hd::jit([](const hd::Array& x) {
    hd::Array y = x;
    y.at(y > 1) = 0;
    return y;
  });
  check<int>(writes(hd::arange<int>(4)), {4}, {0, 1, 0, 0});
}

TEST_CASE("copies are values") {
  hd::Array a = hd::array({1, 2});
  hd::Array b = a;
  b += 1;
  check<int>(a, {2}, {1, 2});
  check<int>(b, {2}, {2, 3});
  hd::Array c = std::move(a);
  CHECK_FALSE(a.has_value());  // NOLINT(bugprone-use-after-move)
  check<int>(c, {2}, {1, 2});
}

TEST_CASE("one write after another into an array that nobody else holds") {
  hd::Array x = hd::zeros<int>({4, 2}).eval();
  x.at(0) = 1;
  x.at(2) = hd::array({2, 3});
  x.at(hd::_, 1) += 10;
  check<int>(x, {4, 2}, {1, 11, 0, 10, 2, 13, 0, 10});
}
