#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::line_mark;
using hd::test::message_of;

TEST_CASE("scalars take the dtype of the array within their kind") {
  const hd::Array f32 = hd::ones<float>({2}), i8 = hd::ones<std::int8_t>({2}),
                  flag = hd::array(std::vector<bool>{true, false});
  CHECK((f32 * 2.0).dtype() == hd::float32);
  CHECK((2 / f32).dtype() == hd::float32);
  CHECK((i8 + 100).dtype() == hd::int8);
  CHECK((i8 + 1.5).dtype() == hd::float64);
  CHECK((i8 / 2).dtype() == hd::float64);
  CHECK((flag + 1).dtype() == hd::int64);
  CHECK((flag + 1.0f).dtype() == hd::float64);
  CHECK((flag + true).dtype() == hd::bool_);
  CHECK((f32.astype(hd::float16) + 1e3).dtype() == hd::float16);
  CHECK(hd::where(flag, f32, 0.0).dtype() == hd::float32);
  CHECK(hd::where(flag, 1, i8).dtype() == hd::int8);
}

TEST_CASE("arrays promote as in NumPy 2") {
  const auto type = [](hd::DType a, hd::DType b) {
    return (hd::zeros({1}, a) + hd::zeros({1}, b)).dtype();
  };
  CHECK(type(hd::int8, hd::uint8) == hd::int16);
  CHECK(type(hd::int64, hd::uint64) == hd::float64);
  CHECK(type(hd::int32, hd::float32) == hd::float64);
  CHECK(type(hd::float16, hd::bfloat16) == hd::float32);
  CHECK(type(hd::bool_, hd::uint16) == hd::uint16);
  CHECK(hd::sin(hd::zeros({1}, hd::int8)).dtype() == hd::float16);
  CHECK(hd::sin(hd::zeros({1}, hd::int32)).dtype() == hd::float64);
  CHECK((hd::zeros({1}, hd::int16) / hd::ones({1}, hd::int16)).dtype() == hd::float64);
  CHECK(hd::floor(hd::zeros({1}, hd::int32)).dtype() == hd::int32);
  CHECK(hd::square(hd::ones({1}, hd::bool_)).dtype() == hd::int8);
}

TEST_CASE("several dtypes promote together, and not one after another") {
  const hd::Array u16 = hd::ones<std::uint16_t>({2}), i16 = hd::ones<std::int16_t>({2}),
                  f32 = hd::ones<float>({2}), f16 = f32.astype(hd::float16);
  CHECK(hd::result_type({u16, i16, f32}) == hd::float32);
  CHECK(hd::result_type({u16, i16, f16}) == hd::float32);
  CHECK(hd::result_type({u16, i16}) == hd::int32);
  CHECK(hd::result_type({u16, i16, f32, 1.0}) == hd::float32);
  CHECK(hd::concatenate({u16, i16, f32}).dtype() == hd::float32);
  CHECK(hd::stack({u16, i16, f32}).dtype() == hd::float32);
  CHECK(hd::block({{u16, i16}, {f32, f32}}).dtype() == hd::float32);
  const std::vector<hd::Array> conditions{u16 > 1, i16 > 1}, choices{u16, i16};
  CHECK(hd::select(conditions, choices, f32).dtype() == hd::float32);
  CHECK(hd::clip(u16, i16, f32).dtype() == hd::float32);
}

TEST_CASE("integers beyond 64 bits are floats where they can, and compare as what they are") {
  const hd::Scalar large = hd::Scalar::large_integer(1e30), low = hd::Scalar::large_integer(-1e30),
                   huge = hd::Scalar::large_integer(INFINITY);
  const hd::Array x = hd::array({1.0, 1e30}), i = hd::array<std::int64_t>({1, 2});
  const hd::Array u = hd::array<std::uint64_t>({1, ~0ull});
  check<double>(x + large, {2}, {1e30, 2e30});
  check<bool>(x == large, {2}, {false, true});
  check<double>(hd::full({2}, low, hd::float64), {2}, {-1e30, -1e30});
  for (const hd::Array& a : {i, u}) {
    check<bool>(a < large, {2}, {true, true});
    check<bool>(large <= a, {2}, {false, false});
    check<bool>(a > low, {2}, {true, true});
    check<bool>(a == huge, {2}, {false, false});
    check<bool>(low != a, {2}, {true, true});
    CHECK_THROWS_AS(a + large, hd::DTypeError);
    CHECK(hd::array_equal(hd::clip(a, low, large), a));
    CHECK_THROWS_AS(hd::clip(a, large, large), hd::DTypeError);
  }
  CHECK_THROWS_AS(x + huge, hd::DTypeError);
  CHECK_THROWS_AS(hd::full({2}, large, hd::int64), hd::DTypeError);
}

TEST_CASE("an integer that does not fit throws with the value, the dtype and the line") {
  const hd::Array x = hd::zeros<std::uint8_t>({2});
  std::string text = message_of<hd::DTypeError>([&] { x + 300; });
  CHECK(contains(text, "300"));
  CHECK(contains(text, "uint8"));
  CHECK(contains(text, line_mark(__LINE__ - 3)));
  CHECK_THROWS_AS(x + -1, hd::DTypeError);
  CHECK_THROWS_AS(hd::zeros<std::int64_t>({1}) + 0xffffffffffffffffull, hd::DTypeError);
}

TEST_CASE("comparisons with integers out of range have the answer that they have") {
  const hd::Array x = hd::array<std::uint8_t>({0, 255});
  check<bool>(x < 300, {2}, {true, true});
  check<bool>(-1 > x, {2}, {false, false});
  check<bool>(x != 256, {2}, {true, true});
  check<bool>(x == -1, {2}, {false, false});
  const hd::Array s = hd::array<std::int64_t>({-1, std::int64_t{1} << 62});
  const hd::Array u = hd::array<std::uint64_t>({~0ull, (std::uint64_t{1} << 62) + 1});
  check<bool>(s < u, {2}, {true, true});
  check<bool>(u <= s, {2}, {false, false});
  check<bool>(s == u, {2}, {false, false});
}

TEST_CASE("bool has no subtraction, and integers no negative powers") {
  const hd::Array flag = hd::array(std::vector<bool>{true});
  CHECK(contains(message_of<hd::DTypeError>([&] { flag - flag; }), "logical_xor"));
  CHECK(contains(message_of<hd::DTypeError>([&] { -flag; }), "logical_not"));
  CHECK_THROWS_AS(hd::power(hd::array({2}), -1), hd::ValueError);
  const hd::Array exponents = hd::array({3, -1});
  if (hd::device() == "cpu") {  // a GPU's arrays are not read
    CHECK(contains(message_of<hd::ValueError>([&] { hd::power(hd::array({2, 2}), exponents); }),
                   "negative integer power -1"));
  }
  check<double>(hd::power(hd::array({2.0, 2.0}), exponents), {2}, {8, 0.5});
  // Not computed yet: 1 / x^-y, cut to an integer.
  check<int>(hd::power(hd::array({2, 2}), -hd::array({-3, 1})), {2}, {8, 0});
  check<double>(hd::power(hd::array({2.0}), -1), {1}, {0.5});
  check<int>(hd::power(hd::array({2}), 3), {1}, {8});
}

TEST_CASE("composites follow NumPy") {
  const hd::Array x = hd::array<double>({-1.5, 0.5, 2.5, NAN});
  check<double>(hd::clip(x, 0, 2), {4}, {0, 0.5, 2, NAN});
  check<double>(hd::round(x), {4}, {-2, 0, 2, NAN});
  check<double>(hd::round(hd::array({1.25, 1.355}), 1), {2}, {1.2, 1.4});
  check<int>(hd::round(hd::array({123, 157}), -1), {2}, {120, 160});
  check<double>(hd::nan_to_num(hd::array<double>({NAN, 1.0}), 7.0), {2}, {7, 1});
  check<float>(hd::nan_to_num(hd::array<float>({INFINITY, -INFINITY})), {2},
               {3.40282347e38f, -3.40282347e38f});
  const auto [quotient, rest] = hd::divmod(hd::array({7, -7}), 3);
  check<int>(quotient, {2}, {2, -3});
  check<int>(rest, {2}, {1, 2});
  const auto [mantissa, exponent] = hd::frexp(hd::array({8.0, 0.75}));
  check<double>(mantissa, {2}, {0.5, 0.75});
  check<int>(exponent, {2}, {4, 0});
  check<double>(hd::ldexp(hd::array({1.0}), hd::array<std::int64_t>({3})), {1}, {8});
  CHECK(hd::allclose(hd::array({1.0, 2.0}), hd::array({1.0, 2.0 + 1e-9})));
  CHECK_FALSE(hd::allclose(hd::array<double>({1.0, NAN}), hd::array<double>({1.0, NAN})));
  CHECK(
      hd::allclose(hd::array<double>({1.0, NAN}), hd::array<double>({1.0, NAN}), 1e-5, 1e-8, true));
  // A number takes the array's dtype, and the tolerance with it.
  CHECK_FALSE(hd::allclose(hd::ones<float>({2}), 1.00001));
  CHECK(hd::allclose(hd::ones<double>({2}), 1.00001));
  CHECK(hd::allclose(hd::ones<std::int8_t>({2}), 1));
  CHECK(hd::angle(hd::array({true, false})).dtype() == hd::float64);
  CHECK_THROWS_AS(hd::nanmean(hd::ones<float>({2}), {}, false, hd::int64), hd::DTypeError);
  CHECK_THROWS_AS(hd::nanstd(hd::ones<float>({2}), {}, 0, false, hd::int64), hd::DTypeError);
  CHECK(hd::nanmean(hd::ones<int>({2}), {}, false, hd::int64).dtype() == hd::int64);
  CHECK(hd::argwhere(hd::array(5)).shape() == hd::Shape{1, 0});
  CHECK(hd::array_equal(hd::array({1, 2}), hd::array({1, 2})));
  CHECK_FALSE(hd::array_equal(hd::array({1, 2}), hd::array({1, 2, 3})));
  check<double>(hd::float_power(hd::array({4}), 0.5), {1}, {2});
  check<int>(hd::where(hd::array({0, 5}), hd::array({1, 2}), hd::array({3, 4})), {2}, {3, 2});
}

TEST_CASE("in-place operators keep the dtype or throw") {
  hd::Array x = hd::array({1, 2});
  x += 3;
  x *= hd::array({1, 10});
  check<int>(x, {2}, {4, 50});
  CHECK_THROWS_AS(x /= 2, hd::DTypeError);
  CHECK_THROWS_AS(x += hd::ones({3, 2}, hd::int32), hd::ShapeError);
  x += hd::array<std::int64_t>({1, 1});
  check<int>(x, {2}, {5, 51});
  x <<= 1;
  x |= 1;
  check<int>(x, {2}, {11, 103});
}

TEST_CASE("errors name the op, the shapes, the dtypes and the line") {
  const hd::Array a = hd::zeros<float>({3}), b = hd::zeros<float>({4});
  const std::string text = message_of<hd::ShapeError>([&] { hd::hypot(a, b); });
  CHECK(contains(text, "hypot(float32[3], float32[4])"));
  CHECK(contains(text, "promotion.cpp" + std::string(":") + std::to_string(__LINE__ - 2)));
  CHECK(contains(message_of<hd::DTypeError>([&] { a << 1; }), "left_shift"));
  CHECK_THROWS_AS(hd::Array() + a, hd::ValueError);
}

TEST_CASE("integer scalars of different C++ types are one weak kind") {
  const hd::Array x = hd::array(std::vector<std::uint8_t>{1, 50, 200});
  check<std::uint8_t>(hd::clip(x, std::size_t{5}, 100), {3}, {5, 50, 100});
  const hd::Array mask = hd::array({true, false});
  check<std::int64_t>(hd::where(mask, std::size_t{5}, 100), {2}, {5, 100});
  CHECK(hd::where(mask, ~std::size_t{0}, 100).dtype() == hd::DType::u64);
}

TEST_CASE("an unsigned scalar beyond int64 is one in a trace, too") {
  constexpr std::uint64_t largest = ~std::uint64_t{0};
  const hd::Array x = hd::zeros<std::uint64_t>({2});
  const auto filled = hd::jit([](const hd::Array& y, const hd::Array& s) {
    return std::make_tuple(hd::full_like(y, s), hd::where(y == 0, s, y));
  });
  const auto [full, where] = filled(x, largest);
  check<std::uint64_t>(full, {2}, {largest, largest});
  check<std::uint64_t>(where, {2}, {largest, largest});
  const auto [small, chosen] = filled(x, 7);
  check<std::uint64_t>(small, {2}, {7, 7});
  check<std::uint64_t>(chosen, {2}, {7, 7});

  const auto set = hd::jit([](const hd::Array& y, const hd::Array& s) {
    hd::Array result = y;
    result.at(0) = s;
    return result;
  });
  check<std::uint64_t>(set(x, largest), {2}, {largest, 0});
  check<float>(set(hd::zeros<float>({2}), largest), {2}, {1.8446744e19F, 0});
  CHECK_THROWS_AS(set(hd::zeros<std::int64_t>({2}), largest), hd::DTypeError);

  const auto sum = hd::jit([](const hd::Array& y, const hd::Array& s) { return y + (s + 1); });
  check<std::uint64_t>(sum(x, largest - 1), {2}, {largest, largest});
  check<std::uint64_t>(sum(x, 1), {2}, {2, 2});
}

TEST_CASE("a traced float fills an integer array as it would outside") {
  const auto f =
      hd::jit([](const hd::Array& y, const hd::Array& s) { return hd::full_like(y, s); });
  const hd::Array x = hd::zeros<std::uint8_t>({1});
  for (const double value : {3.7, 300.7, -1.5}) {
    CAPTURE(value);
    CHECK(f(x, value).to_vector<std::uint8_t>() ==
          hd::full_like(x, value).to_vector<std::uint8_t>());
  }
}
