// Creation and printing against NumPy itself, over many values.
#include <cstring>
#include <random>
#include <sstream>

#include "tests/support/oracle.h"
#include "values.h"

using hd::test::check;
using hd::test::contains;
using hd::test::message_of;
using hd::test::Oracle;
using hd::test::OracleResult;

namespace {

template <class T>
hd::ir::HostArray on_host(const std::vector<T>& values, hd::DType dtype = hd::dtype_of<T>) {
  hd::ir::HostArray array{{dtype, {static_cast<std::int64_t>(values.size())}}, {}};
  array.data.resize(values.size() * sizeof(T));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

OracleResult numpy(const std::string& code,
                   const std::vector<std::pair<std::string, hd::ir::HostArray>>& inputs) {
  OracleResult result = Oracle::instance().python(code, inputs);
  REQUIRE_MESSAGE(result.error.empty(), result.error);
  return result;
}

template <class T>
std::vector<T> values_of(const hd::ir::HostArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

/// start, stop and step of ranges of up to some hundred elements, as three values each.
std::vector<double> random_ranges(std::size_t count, double magnitude, bool whole) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<double> result;
  while (result.size() < 3 * count) {
    double step = unit(random) * std::pow(magnitude, unit(random));
    double start = unit(random) * 10 * std::abs(step) * std::pow(10, unit(random));
    double stop = start + step * 300 * std::abs(unit(random));
    if (result.size() % 2 == 0) step = std::round(step * 100) / 100;
    if (result.size() % 4 == 0) start = std::round(start * 10) / 10;
    if (whole) step = std::round(step), start = std::round(start), stop = std::round(stop);
    if (step != 0) result.insert(result.end(), {start + 0.0, stop, step});
  }
  return result;
}

const std::string ranges_code =
    "rows = [np.arange(s(a), s(b), s(c), dtype=d) for a, b, c in p.reshape(-1, 3)]\n"
    "result = (np.concatenate(rows), np.array([len(r) for r in rows], np.int64))";

template <class T>
std::uint64_t bits(const T& element) {
  std::uint64_t result = 0;
  std::memcpy(&result, &element, sizeof(T));
  return result;
}

/// Ranges in a dtype, from C++ scalars of type S, have NumPy's bits.
template <class T, class S>
void check_ranges(const std::vector<double>& numbers, const std::string& setting) {
  const OracleResult expected = numpy(setting + ranges_code, {{"p", on_host(numbers)}});
  const std::vector<T> elements = values_of<T>(expected.outputs[0].value);
  const auto lengths = values_of<std::int64_t>(expected.outputs[1].value);
  std::size_t place = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto number = [&](std::size_t k) { return static_cast<S>(numbers[3 * i + k]); };
    CAPTURE(number(0));
    CAPTURE(number(1));
    CAPTURE(number(2));
    const std::vector<T> ours =
        hd::arange(number(0), number(1), number(2), hd::dtype_of<T>).template to_vector<T>();
    REQUIRE(static_cast<std::int64_t>(ours.size()) == lengths[i]);
    for (std::size_t k = 0; k < ours.size(); ++k) {
      CAPTURE(k);
      REQUIRE(bits(ours[k]) == bits(elements[place + k]));
    }
    place += ours.size();
  }
}

}  // namespace

TEST_CASE("ranges have NumPy's lengths and bits") {
  const std::vector<double> numbers = random_ranges(150, 1e3, false);
  check_ranges<double, double>(numbers, "s = float; d = np.float64\n");
  check_ranges<float, float>(numbers, "s = np.float32; d = np.float32\n");
  check_ranges<float, double>(numbers, "s = float; d = np.float32\n");
  check_ranges<hd::float16_t, double>(random_ranges(100, 4, false), "s = float; d = np.float16\n");
  check_ranges<std::int32_t, double>(numbers, "s = float; d = np.int32\n");
  const std::vector<double> whole = random_ranges(100, 1e3, true);
  check_ranges<std::int64_t, std::int64_t>(whole, "s = int; d = np.int64\n");
  check_ranges<double, std::int64_t>(whole, "s = int; d = np.float64\n");
  check_ranges<float, std::int64_t>(whole, "s = int; d = np.float32\n");
  check_ranges<std::int8_t, int>({0, 900, 100, 1, -3, -2, 100, 300, 20}, "s = int; d = np.int8\n");
  check_ranges<double, double>({1.0, 2.0, 0.1, 0, 0.7, 0.1, 1e16, 1e16 + 9, 1.5, 0, 3, INFINITY},
                               "s = float; d = np.float64\n");
  check_ranges<float, float>({0, 0.6, 0.2, 0, 0.9, 0.3, 0.1, 2, 0.1},
                             "s = np.float32; d = np.float32\n");
}

TEST_CASE("jitted ranges have NumPy's bits") {
  const auto f =
      hd::jit([] { return std::pair(hd::arange(1.0, 60.0, 0.1), hd::linspace(0.1, 0.7, 999)); });
  const auto [range, line] = f();
  const OracleResult expected =
      numpy("result = (np.arange(1.0, 60.0, 0.1), np.linspace(0.1, 0.7, 999))", {});
  CHECK(range.to_vector<double>() == values_of<double>(expected.outputs[0].value));
  CHECK(line.to_vector<double>() == values_of<double>(expected.outputs[1].value));
}

TEST_CASE("linspace has NumPy's bits") {
  const std::vector<double> numbers = random_ranges(60, 1e3, false);
  const OracleResult expected = numpy(
      "p = p.reshape(-1, 3)\n"
      "result = tuple(np.concatenate([np.linspace(s(a), s(b), 99, endpoint=c > 0) for a, b, c in "
      "p])"
      " for s in (float, np.float32))",
      {{"p", on_host(numbers)}});
  const auto wide = values_of<double>(expected.outputs[0].value);
  const auto narrow = values_of<float>(expected.outputs[1].value);
  REQUIRE(narrow.size() == numbers.size() * 33);
  for (std::size_t i = 0; i < numbers.size() / 3; ++i) {
    const double a = numbers[3 * i], b = numbers[3 * i + 1];
    const bool endpoint = numbers[3 * i + 2] > 0;
    const auto doubles = hd::linspace(a, b, 99, endpoint).to_vector<double>();
    const auto floats =
        hd::linspace(static_cast<float>(a), static_cast<float>(b), 99, endpoint).to_vector<float>();
    for (std::size_t k = 0; k < 99; ++k) {
      CAPTURE(k);
      REQUIRE(doubles[k] == wide[99 * i + k]);
      REQUIRE(floats[k] == narrow[99 * i + k]);
    }
  }
}

TEST_CASE("ranges of numbers that are too large or do not fit throw with their place") {
  CHECK(hd::arange(INT64_MAX - 2, INT64_MAX).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{INT64_MAX - 2, INT64_MAX - 1});
  check<std::int64_t>(hd::arange(0, INT64_MAX, std::int64_t{1} << 62), {2},
                      {0, std::int64_t{1} << 62});
  check<std::int64_t>(hd::arange(INT64_MIN, INT64_MAX, std::int64_t{1} << 62), {4},
                      {INT64_MIN, INT64_MIN / 2, 0, std::int64_t{1} << 62});
  check<std::int64_t>(hd::arange(0, 10, INT64_MAX), {1}, {0});
  check<std::int64_t>(hd::arange(10, 0, INT64_MIN), {1}, {10});
  const std::uint64_t half = std::uint64_t{1} << 63;
  check<std::uint64_t>(hd::arange(half, half + 2, 1, hd::uint64), {2}, {half, half + 1});
  const auto message = [](auto make) { return message_of<hd::Error>(make); };
  CHECK(contains(message([] { hd::arange(INT64_MIN, INT64_MAX); }), "numpy.cpp:"));
  CHECK(contains(message([] { hd::arange(0.0, INFINITY); }), "numpy.cpp:"));
  CHECK(contains(message([] { hd::arange(-3, 0, 1, hd::uint8); }), "numpy.cpp:"));
  CHECK(contains(message([] { hd::arange(0, 5, 1, hd::bool_); }), "numpy.cpp:"));
  check<bool>(hd::arange(0, 2, 1, hd::bool_), {2}, {false, true});
}

namespace {

/// Rows of `width` floats: all magnitudes, and those where NumPy changes its format.
template <class T>
std::vector<T> printed_values(std::size_t rows, std::size_t width, double magnitude) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(-1, 1);
  const double edges[] = {0.0001, 0.00011, 0.001, 0.1, 1, 100, 999.5, 1000, 1001, 65504, 1e6, 1e8};
  std::vector<T> result;
  while (result.size() < rows * width) {
    const std::size_t row = result.size() / width;
    double value = unit(random) * std::pow(magnitude, unit(random));
    if (row % 3 == 0) value = edges[random() % std::size(edges)];
    if (row % 3 == 1) value = std::round(value * 100) / 100;
    T element(static_cast<float>(value));
    if constexpr (std::is_same_v<T, double>) element = value;
    if constexpr (!std::is_same_v<T, hd::float16_t>) {
      if (row % 6 == 0) element = std::nextafter(element, static_cast<T>(unit(random) * 1e9));
    }
    result.push_back(element);
  }
  return result;
}

template <class T>
void check_printing(double magnitude) {
  constexpr std::size_t rows = 900, width = 3;
  const std::vector<T> values = printed_values<T>(rows, width, magnitude);
  const OracleResult expected = numpy(
      "rows = x.reshape(-1, 3)\n"
      "result = '\\n'.join([t for r in rows for t in (str(r), repr(r[:2]), str(r[1]))])",
      {{"x", on_host(values)}});
  std::istringstream lines(expected.text);
  for (std::size_t row = 0; row < rows; ++row) {
    const hd::Array x =
        hd::array(std::vector<T>(values.begin() + static_cast<std::ptrdiff_t>(row * width),
                                 values.begin() + static_cast<std::ptrdiff_t>((row + 1) * width)));
    for (const std::string& ours :
         {hd::to_string(x), hd::repr(x(hd::slice(0, 2))), hd::to_string(x(1))}) {
      std::string line;
      std::getline(lines, line);
      CHECK(ours == line);
    }
  }
}

}  // namespace

TEST_CASE("floats print as in NumPy") {
  check_printing<double>(1e6);
  check_printing<double>(1e200);
  check_printing<float>(1e5);
  check_printing<float>(1e30);
  check_printing<hd::float16_t>(1e4);
}

namespace {

const std::vector<std::int64_t> clip_bounds{-70000, -129, -128, -1,  0,    5,
                                            127,    128,  255,  256, 70000};

/// numpy.clip of integers between all pairs of bounds: the values, or an error.
template <class T>
void check_clip() {
  const std::vector<T> values{std::numeric_limits<T>::min(), 0, 1, 100,
                              std::numeric_limits<T>::max()};
  const OracleResult expected = numpy(
      "def clip(low, high):\n"
      "  try: return ' '.join(str(v) for v in np.clip(x, int(low), int(high)).astype(x.dtype))\n"
      "  except OverflowError: return 'error'\n"
      "result = '\\n'.join(clip(low, high) for low in b for high in b)",
      {{"x", on_host(values)}, {"b", on_host(clip_bounds)}});
  const auto jitted = hd::jit([](const hd::Array& x, const hd::Array& low, const hd::Array& high) {
    return hd::clip(x, low, high);
  });
  const hd::Array x = hd::array(values);
  const auto text = [](auto make) -> std::string {
    try {
      const hd::Array clipped = make();
      CHECK(clipped.dtype() == hd::dtype_of<T>);
      std::string line;
      for (const T value : clipped.template to_vector<T>()) {
        line += (line.empty() ? "" : " ") + std::to_string(value);
      }
      return line;
    } catch (const hd::DTypeError&) {
      return "error";
    }
  };
  std::istringstream lines(expected.text);
  for (const std::int64_t low : clip_bounds) {
    for (const std::int64_t high : clip_bounds) {
      CAPTURE(low);
      CAPTURE(high);
      std::string line;
      std::getline(lines, line);
      CHECK(text([&] { return hd::clip(x, low, high); }) == line);
      CHECK(text([&] { return jitted(x, low, high); }) == line);
    }
  }
}

}  // namespace

TEST_CASE("clip takes integer bounds beyond the dtype as NumPy does") {
  check_clip<std::int8_t>();
  check_clip<std::uint8_t>();
  check_clip<std::int16_t>();
  check_clip<std::uint64_t>();
  check_clip<std::int64_t>();
  const hd::Array x = hd::array<std::uint8_t>({1, 200});
  check<double>(x.clip(-1, 2.5), {2}, {1, 2.5});
  check<std::int64_t>(hd::clip(x, hd::array<std::int64_t>({2, 300}), 1000), {2}, {2, 300});
  check<std::int16_t>(hd::clip(x.astype(hd::int8), 100, hd::array<std::int16_t>({300, 400})), {2},
                      {100, 100});
  check<float>(hd::clip(hd::array({1.5f, 500.0f}), -1, 300), {2}, {1.5f, 300});
  check<std::int64_t>(hd::clip(hd::array({true, false}), 0, 1), {2}, {1, 0});
  CHECK(contains(message_of<hd::DTypeError>([&] { x.clip(300, 400); }), "clip: the integer 300"));
}

TEST_CASE("filling with floats casts them, and with integers checks them") {
  check<std::uint8_t>(hd::full({1}, 300.7, hd::uint8), {1}, {44});
  check<std::uint8_t>(hd::full({1}, -1.5, hd::uint8), {1}, {255});
  check<std::int8_t>(hd::full_like(hd::zeros<std::int8_t>({1}), 130.0), {1}, {-126});
  CHECK_THROWS_AS(hd::full({1}, 300, hd::uint8), hd::DTypeError);
  CHECK_THROWS_AS(hd::full_like(hd::zeros<std::int8_t>({1}), 130), hd::DTypeError);
}

TEST_CASE("a bool rounds to float16") {
  const hd::Array x = hd::array({true, false});
  CHECK(hd::round(x).dtype() == hd::float16);
  CHECK(hd::round(x).to_vector<float>() == std::vector<float>{1, 0});
  CHECK_THROWS_AS(hd::round(x, 1), hd::DTypeError);
  CHECK_THROWS_AS(hd::round(x, -1), hd::DTypeError);
}

TEST_CASE("0-d arrays reduce over axis 0 and -1 as in NumPy") {
  const OracleResult expected = numpy(
      "def text(f, **options):\n"
      "  try: r = f(x, **options); return f'{r.dtype} {r.shape} {float(r)}'\n"
      "  except Exception as e: return 'error'\n"
      "result = '\\n'.join(text(getattr(np, f), axis=a, keepdims=k)"
      " for f in 'sum prod min max any all argmin argmax mean var std'.split()"
      " for a in (0, -1, 1, -2) for k in (False, True))",
      {{"x", {{hd::int16, {}}, {std::byte{7}, std::byte{0}}}}});
  std::istringstream lines(expected.text);
  const hd::Array x = hd::array(std::int16_t{7});
  const auto check_all = [&](auto reduce) {
    for (const int axis : {0, -1, 1, -2}) {
      for (const bool keepdims : {false, true}) {
        CAPTURE(axis);
        std::string line, ours;
        std::getline(lines, line);
        try {
          const hd::Array result = reduce(axis, keepdims);
          CHECK(result.ndim() == 0);
          const double value = result.template item<double>();
          ours = std::string(hd::numpy_name_of(result.dtype())) + " () " +
                 (value == 7   ? "7.0"
                  : value == 1 ? "1.0"
                               : "0.0");
        } catch (const hd::IndexError&) {
          ours = "error";
        }
        CHECK(ours == line);
      }
    }
  };
  check_all([&](int axis, bool keepdims) { return x.sum(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.prod(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.min(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.max(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.any(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.all(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.argmin(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.argmax(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.mean(axis, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.var(axis, 0, keepdims); });
  check_all([&](int axis, bool keepdims) { return x.std(axis, 0, keepdims); });
}

TEST_CASE("numbers that an array cannot hold, and shapes too large, throw with their place") {
  hd::Array x = hd::zeros<int>({2});
  const auto message = [](auto make) { return message_of<hd::Error>(make); };
  CHECK(contains(message([&] { x.at(0) = NAN; }), "numpy.cpp:"));
  CHECK(contains(message([&] { x.at(0) = INFINITY; }), "numpy.cpp:"));
  CHECK(contains(message([&] { x.at(0) = 1e10; }), "numpy.cpp:"));
  CHECK(contains(message([&] { x.astype(hd::uint8).at(0) = -1.5; }), "numpy.cpp:"));
  CHECK(contains(message([&] { hd::zeros<std::int64_t>({2}).at(0) = 1e19; }), "numpy.cpp:"));
  x.at(0) = -1.5;
  check<int>(x, {2}, {-1, 0});
  const auto set = hd::jit([](hd::Array y, const hd::Array& s) {
    y.at(0) = s;
    return y;
  });
  check<int>(set(x, 2.5), {2}, {2, 0});
  CHECK(contains(message([&] { set(x, NAN); }), "numpy.cpp:"));
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK(contains(message([&] { x.reshape({large, large}); }), "numpy.cpp:"));
  CHECK(contains(message([&] { x.reshape({large, large, -1}); }), "numpy.cpp:"));
  CHECK(contains(message([&] { hd::broadcast_to(x, {large, large, 2}); }), "numpy.cpp:"));
}
