#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::message_of;

TEST_CASE("arrays are made from data in the C++ type") {
  check<float>(hd::array({1.5f, 2.5f}), {2}, {1.5f, 2.5f});
  check<int>(hd::array({{1, 2, 3}, {4, 5, 6}}), {2, 3}, {1, 2, 3, 4, 5, 6});
  check<double>(hd::array<double>({1, 2, 3, 4}, {2, 2}), {2, 2}, {1, 2, 3, 4});
  check<std::uint8_t>(hd::array(std::vector<std::uint8_t>{7, 8}), {2}, {7, 8});
  check<bool>(hd::array(std::vector<bool>{true, false}), {2}, {true, false});
  check<std::int64_t>(hd::array(std::int64_t{9}), {}, {9});
  const std::vector<float> data{1, 2, 3};
  check<float>(hd::array(std::span<const float>(data), {3, 1}), {3, 1}, {1, 2, 3});
  CHECK(hd::array({hd::float16_t(1.5f)}).dtype() == hd::float16);
  CHECK(hd::array({hd::bfloat16_t(1.5f)}).item<float>() == 1.5f);
}

TEST_CASE("data that does not fill its shape throws") {
  CHECK(contains(message_of<hd::ShapeError>([] { hd::array<float>({1, 2, 3}, {2, 2}); }),
                 "3 elements do not fill the shape [2,2]"));
  CHECK_THROWS_AS(hd::array({{1, 2}, {3}}), hd::ShapeError);
  CHECK_THROWS_AS(hd::zeros({-1}), hd::ShapeError);
}

TEST_CASE("filled arrays") {
  check<double>(hd::zeros({2}), {2}, {0, 0});
  check<float>(hd::ones<float>({2, 1}), {2, 1}, {1, 1});
  check<std::int16_t>(hd::zeros({2}, hd::int16), {2}, {0, 0});
  check<float>(hd::full({2}, 2.5f), {2}, {2.5f, 2.5f});
  check<int>(hd::full({2}, 3), {2}, {3, 3});
  check<double>(hd::full({2}, 3, hd::float64), {2}, {3, 3});
  check<int>(hd::full({2, 2}, hd::array({1, 2})), {2, 2}, {1, 2, 1, 2});
  check<std::int8_t>(hd::full_like(hd::zeros<std::int8_t>({2}), 4), {2}, {4, 4});
  check<int>(hd::ones_like(hd::array({5, 6})), {2}, {1, 1});
  check<float>(hd::zeros<float>({0, 3}), {0, 3}, {});
}

TEST_CASE("ranges") {
  check<std::int64_t>(hd::arange(4), {4}, {0, 1, 2, 3});
  check<std::int64_t>(hd::arange(7, 1, -2), {3}, {7, 5, 3});
  check<std::int64_t>(hd::arange(3, 3), {0}, {});
  check<double>(hd::arange(0.0, 1.0, 0.25), {4}, {0, 0.25, 0.5, 0.75});
  check<float>(hd::arange(0.5f, 3.0f), {3}, {0.5f, 1.5f, 2.5f});
  check<std::uint8_t>(hd::arange<std::uint8_t>(3), {3}, {0, 1, 2});
  check<float>(hd::arange<float>(1, 3), {2}, {1, 2});
  CHECK_THROWS_AS(hd::arange(0, 1, 0), hd::ValueError);
  check<float>(hd::linspace(0.0f, 1.0f, 5), {5}, {0, 0.25f, 0.5f, 0.75f, 1});
  check<double>(hd::linspace(0, 10, 5, false), {5}, {0, 2, 4, 6, 8});
  check<double>(hd::linspace(2.0, 3.0, 1), {1}, {2});
  check<double>(hd::linspace(2.0, 3.0, 0), {0}, {});
  // Steps of less than the smallest number: index / 4 of it, rounded.
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(hd::linspace(0.0, least, 5).to_vector<double>() ==
        std::vector<double>{0, 0, 0, least, least});
  const float single = std::numeric_limits<float>::denorm_min();
  CHECK(hd::linspace(0.0f, single, 5).to_vector<float>() ==
        std::vector<float>{0, 0, 0, single, single});
  CHECK(hd::linspace(0.1, 0.7, 77)(-1).item<double>() == 0.7);
  check<double>(hd::eye(2), {2, 2}, {1, 0, 0, 1});
  check<int>(hd::eye(2, 3, 1, hd::int32), {2, 3}, {0, 1, 0, 0, 0, 1});
}

TEST_CASE("half precision rounds to nearest even and reads back") {
  CHECK(hd::float16_t(65519.0f).bits == 0x7bff);
  CHECK(hd::float16_t(65520.0f).bits == 0x7c00);
  CHECK(hd::float16_t(0x1p-25f).bits == 0);
  CHECK(hd::float16_t(0x1.8p-25f).bits == 1);
  CHECK(hd::float16_t(-2.0f).bits == 0xc000);
  CHECK(hd::bfloat16_t(1.00390625f).bits == 0x3f80);
  CHECK(std::isnan(static_cast<float>(hd::bfloat16_t(NAN))));
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const auto half = hd::float16_t::from_bits(static_cast<std::uint16_t>(bits));
    REQUIRE(hd::float16_t(static_cast<float>(half)).bits == bits);
  }
}
