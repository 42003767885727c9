#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>

#include "tests/support/oracle.h"
#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::line_mark;
using hd::test::message_of;
using hd::test::Oracle;
using hd::test::OracleResult;

using C64 = std::complex<float>;
using C128 = std::complex<double>;

namespace {

const C128 unit(0, 1);

template <class T>
hd::ir::HostArray on_host(const std::vector<T>& values) {
  hd::ir::HostArray array{{hd::dtype_of<T>, {static_cast<std::int64_t>(values.size())}}, {}};
  array.data.resize(values.size() * sizeof(T));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

}  // namespace

TEST_CASE("complex scalars are weak, and take arrays to complex dtypes") {
  const auto promoted = [](hd::DType dtype, auto scalar) {
    return (hd::ones({2}, dtype) * scalar).dtype();
  };
  CHECK(promoted(hd::float16, unit) == hd::complex64);
  CHECK(promoted(hd::bfloat16, unit) == hd::complex64);
  CHECK(promoted(hd::float32, unit) == hd::complex64);
  CHECK(promoted(hd::float32, C64(0, 1)) == hd::complex64);
  CHECK(promoted(hd::float64, C64(0, 1)) == hd::complex128);
  CHECK(promoted(hd::int8, unit) == hd::complex128);
  CHECK(promoted(hd::bool_, unit) == hd::complex128);
  CHECK(promoted(hd::complex64, unit) == hd::complex64);
  CHECK(promoted(hd::complex64, 2.0) == hd::complex64);
  CHECK(promoted(hd::complex64, 2) == hd::complex64);
  CHECK((hd::ones<float>({2}) + hd::ones<C64>({2})).dtype() == hd::complex64);
  CHECK((hd::ones<double>({2}) + hd::ones<C64>({2})).dtype() == hd::complex128);
  CHECK((hd::ones<std::int32_t>({2}) + hd::ones<C64>({2})).dtype() == hd::complex128);
}

TEST_CASE("complex arrays go in and out") {
  const std::vector<C64> values{{1, 2}, {-3.5f, 0}, {0, -0.0f}};
  const hd::Array x = hd::array(values);
  check<C64>(x, {3}, values);
  CHECK(x(1).item<C128>() == C128(-3.5, 0));
  CHECK(x(0).item<float>() == 1);
  check<C64>(hd::full({2}, C64(1, -1)), {2}, {{1, -1}, {1, -1}});
  check<C128>(hd::full({2}, 2.5, hd::complex128), {2}, {2.5, 2.5});
  check<C128>(hd::zeros<C128>({1}), {1}, {0});
  check<C64>(hd::arange(3, 0, -1, hd::complex64), {3}, {3, 2, 1});
  check<C128>(hd::arange(C128(1, 1), C128(4, 9), C128(1, 0.5)), {6},
              {{1, 1}, {2, 1.5}, {3, 2}, {4, 2.5}, {5, 3}, {6, 3.5}});
  CHECK(hd::arange(C64(0, 3)).shape() == hd::Shape{0});
  CHECK(hd::arange(C64(0, 3)).dtype() == hd::complex128);
  check<C128>(hd::linspace(C128(0, 1), 4, 3), {3}, {{0, 1}, {2, 0.5}, {4, 0}});
  hd::Array y = hd::zeros<C64>({3});
  y.at(1) = C64(0, 7);
  y.at(hd::slice(2, 3)) = 5;
  check<C64>(y, {3}, {0, {0, 7}, 5});
}

TEST_CASE("parts, conjugates and angles") {
  const hd::Array z = hd::array(std::vector<C64>{{3, 4}, {-1, 0}});
  check<float>(z.real(), {2}, {3, -1});
  check<float>(z.imag(), {2}, {4, 0});
  check<C64>(z.conj(), {2}, {{3, -4}, {-1, 0}});
  check<float>(hd::absolute(z), {2}, {5, 1});
  check<float>(hd::angle(z), {2}, {0.9272952f, 3.1415927f});
  check<float>(hd::angle(z, true), {2}, {53.130102f, 180});
  check<C64>(hd::make_complex(z.imag(), z.real()), {2}, {{4, 3}, {0, -1}});
  check<bool>(hd::isreal(z), {2}, {false, true});
  check<bool>(hd::iscomplex(z), {2}, {true, false});
  const hd::Array real = hd::array({1, -2});
  check<std::int32_t>(real.real(), {2}, {1, -2});
  check<std::int32_t>(real.imag(), {2}, {0, 0});
  check<std::int32_t>(real.conj(), {2}, {1, -2});
  check<double>(hd::angle(real), {2}, {0, 3.141592653589793});
}

TEST_CASE("functions and reductions of complex arrays") {
  const hd::Array z = hd::array<C128>({{1, 2}, {3, -4}, {0, 1}, {2, 2}}, {2, 2});
  check<C128>(z * z, {2, 2}, {{-3, 4}, {-7, -24}, {-1, 0}, {0, 8}});
  check<C128>(hd::sum(z), {}, {{6, 1}});
  check<C128>(hd::sum(z, 0), {2}, {{1, 3}, {5, -2}});
  check<C128>(hd::prod(z, 1), {2}, {{11, 2}, {-2, 2}});
  check<C128>(hd::mean(z), {}, {{1.5, 0.25}});
  check<double>(hd::var(z), {}, {7.4375});
  check<C128>(hd::max(z), {}, {{3, -4}});
  check<C128>(hd::min(z, 1), {2}, {{1, 2}, {0, 1}});
  check<std::int64_t>(hd::argmax(z), {}, {1});
  check<bool>(hd::any(z, 1), {2}, {true, true});
  check<C128>(hd::matmul(z, z), {2, 2}, {{1, 7}, {25, 0}, {-4, 3}, {4, 11}});
  check<C128>(hd::vecdot(z, z), {2}, {30, 9});
  check<C128>(hd::round(hd::array(std::vector<C128>{{1.26, -2.35}}), 1), {1}, {{1.3, -2.4}});
  CHECK(hd::allclose(hd::exp(hd::log(z)), z));
  CHECK(hd::allclose(hd::power(hd::sqrt(z), 2), z));
  CHECK((z > C128(1, 5)).to_vector<bool>() == std::vector<bool>{false, true, false, true});
}

TEST_CASE("what complex numbers do not have throws with its place") {
  const hd::Array z = hd::ones<C64>({2});
  hd::Array x = hd::ones<float>({2});
  const auto message = [](auto make) { return message_of<hd::DTypeError>(make); };
  CHECK(contains(message([&] { hd::floor(z); }), "complex.cpp:"));
  CHECK(contains(message([&] { z % 2; }), "remainder"));
  CHECK(contains(message([&] { hd::arctan2(z, z); }), "arctan2"));
  CHECK(contains(message([&] { x.at(0) = unit; }), "take its real part"));
  CHECK(contains(message([&] { hd::full({2}, unit, hd::float32); }), line_mark(__LINE__)));
  CHECK(contains(message([&] { x += unit; }), "complex64"));
  CHECK(contains(message([&] { hd::arange(unit, 5, 1, hd::float32); }),
                 "arange: complex numbers cannot be cast to float32 ("));
}

TEST_CASE("jit takes complex scalars as arguments and arrays of them") {
  int traces = 0;
  auto rotate = hd::jit([&](const hd::Array& x, const hd::Array& by) {
    ++traces;
    return x * by + C128(1, 1);
  });
  const hd::Array x = hd::array({1.0f, 2.0f});
  check<C64>(rotate(x, C128(0, 1)), {2}, {{1, 2}, {1, 3}});
  check<C64>(rotate(x, C128(2, 0)), {2}, {{3, 1}, {5, 1}});
  CHECK(traces == 1);
  const hd::Array wide = hd::array({1.0, 2.0});
  check<C128>(rotate(wide, C128(0, -1)), {2}, {{1, 0}, {1, -1}});
  auto same = hd::jit([](const hd::Array& by) { return by; });
  CHECK(same(C128(3, 4)).item<C128>() == C128(3, 4));
}

TEST_CASE("a loop with a changing complex constant") {
  hd::Array z = hd::zeros<C128>({3});
  C128 expected = 0;
  for (int i = 0; i < 20; ++i) {
    const C128 step(i * 0.5, -i);
    z = z * unit + step;
    z.eval();
    expected = expected * unit + step;
  }
  for (const C128 value : z.to_vector<C128>()) CHECK(std::abs(value - expected) < 1e-9);
}

TEST_CASE("complex arrays print as in NumPy") {
  std::mt19937_64 random(3);
  const auto number = [&]() -> double {
    const double specials[] = {0, -0.0, 1, 1e-5, 1e9, INFINITY, -INFINITY, NAN, 0.1, -2.5};
    if (random() % 3 == 0) return specials[random() % std::size(specials)];
    return std::ldexp(static_cast<double>(random() % 2000) - 1000,
                      static_cast<int>(random() % 20) - 10);
  };
  const auto check_printing = [&]<class T>(T) {
    constexpr std::size_t rows = 300, width = 3;
    std::vector<T> values;
    for (std::size_t i = 0; i < rows * width; ++i) {
      const double real = number();
      values.emplace_back(static_cast<typename T::value_type>(real),
                          static_cast<typename T::value_type>(number()));
    }
    const std::pair<std::string, hd::ir::HostArray> input{"x", on_host(values)};
    const OracleResult expected = Oracle::instance().python(
        "rows = x.reshape(-1, 3)\n"
        "result = '\\n'.join([t.replace('\\n', '|') for r in rows\n"
        "                    for t in (str(r), repr(r[:2]), str(r[1]), repr(np.asarray(r[2])))])",
        {&input, 1});
    REQUIRE_MESSAGE(expected.error.empty(), expected.error);
    std::istringstream lines(expected.text);
    const hd::Array x = hd::array(values, {rows, width});
    for (std::size_t row = 0; row < rows; ++row) {
      const hd::Array one = x(static_cast<std::int64_t>(row));
      for (std::string ours : {hd::to_string(one), hd::repr(one(hd::slice(0, 2))),
                               hd::to_string(one(1)), hd::repr(one(2))}) {
        std::string line;
        std::getline(lines, line);
        std::ranges::replace(ours, '\n', '|');
        CHECK(ours == line);
      }
    }
  };
  check_printing(C128());
  check_printing(C64());
}

TEST_CASE("complex arrays are saved and loaded") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "heddle_complex_test.npy").string();
  for (const hd::DType dtype : {hd::complex64, hd::complex128}) {
    const hd::Array z = hd::array(std::vector<C128>{{1, -2}, {0.5, 4}}).astype(dtype);
    hd::save(path, z);
    const OracleResult read = Oracle::instance().python("result = np.load('" + path + "')");
    REQUIRE_MESSAGE(read.error.empty(), read.error);
    CHECK(read.outputs[0].value.type.dtype == dtype);
    CHECK(hd::array_equal(hd::load(path), z));
    const OracleResult swapped =
        Oracle::instance().python("x = np.load('" + path + "')\n" + "np.save('" + path +
                                  "', x.astype(x.dtype.newbyteorder('>')))\nresult = ''");
    REQUIRE_MESSAGE(swapped.error.empty(), swapped.error);
    CHECK(hd::array_equal(hd::load(path), z));
  }
  std::filesystem::remove(path);
}

TEST_CASE("scans leave NaN in either part out") {
  const double nan = std::nan("");
  const hd::Array x = hd::array(std::vector<C128>{{1, 1}, {nan, 0}, {0, 2}, {3, nan}});
  check<C128>(hd::nancumsum(x), {4}, {{1, 1}, {1, 1}, {1, 3}, {1, 3}});
  check<C128>(hd::nancumprod(x), {4}, {{1, 1}, {1, 1}, {-2, 2}, {-2, 2}});
}
