#include "heddle/dtype_info.h"

#include <fmt/format.h>

#include "tests/support/oracle.h"
#include "values.h"

namespace {

constexpr hd::DType dtypes[] = {hd::bool_,  hd::int8,    hd::int16,   hd::int32,
                                hd::int64,  hd::uint8,   hd::uint16,  hd::uint32,
                                hd::uint64, hd::float16, hd::float32, hd::float64};

}  // namespace

TEST_CASE("casts are allowed as in NumPy") {
  std::string ours, names;
  for (const hd::DType from : dtypes) {
    names += fmt::format("'{}', ", hd::numpy_name_of(from));
    for (const hd::DType to : dtypes) {
      for (const hd::Casting casting :
           {hd::Casting::equiv, hd::Casting::safe, hd::Casting::same_kind, hd::Casting::unsafe}) {
        ours += hd::can_cast(from, to, casting) ? '1' : '0';
      }
    }
  }
  const auto answer = hd::test::Oracle::instance().python(
      fmt::format("names = [{}]\n"
                  "result = ''.join(str(int(np.can_cast(a, b, c))) for a in names for b in names\n"
                  "                 for c in ('equiv', 'safe', 'same_kind', 'unsafe'))",
                  names));
  CHECK(ours == answer.text);
}

TEST_CASE("the facts about dtypes are NumPy's") {
  std::string ours, names;
  for (const hd::DType dtype : dtypes) {
    if (hd::is_boolean(dtype)) continue;
    names += fmt::format("'{}', ", hd::numpy_name_of(dtype));
    if (hd::is_integer(dtype)) {
      const hd::IntegerInfo info = hd::iinfo(dtype);
      ours += fmt::format("{} {} {}\n", info.bits, info.max, info.min);
    } else {
      const hd::FloatInfo info = hd::finfo(dtype);
      ours += fmt::format("{} {:a} {:a} {:a} {:a}\n", info.bits, info.eps, info.max,
                          info.smallest_normal, info.smallest_subnormal);
    }
  }
  const auto answer = hd::test::Oracle::instance().python(
      fmt::format("def line(d):\n"
                  "  if np.issubdtype(d, np.integer):\n"
                  "    i = np.iinfo(d)\n"
                  "    return f'{{i.bits}} {{i.max}} {{i.min}}\\n'\n"
                  "  f = np.finfo(d)\n"
                  "  values = f.eps, f.max, f.smallest_normal, f.smallest_subnormal\n"
                  "  return ' '.join([str(f.bits)] + [float(v).hex() for v in values]) + '\\n'\n"
                  "result = ''.join(line(d) for d in [{}])",
                  names));
  // Both write hexadecimal floats, in different numbers of digits.
  const auto values = [](const std::string& text) {
    std::vector<double> result;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t used = 0;
      result.push_back(std::stod(text.substr(at), &used));
      at += used + 1;
    }
    return result;
  };
  CHECK(values(ours) == values(answer.text));
  CHECK_THROWS_AS(hd::finfo(hd::int8), hd::ValueError);
  CHECK_THROWS_AS(hd::iinfo(hd::bool_), hd::ValueError);
  CHECK(hd::finfo(hd::bfloat16).eps == 0x1p-7);
}

TEST_CASE("kinds of dtypes and what operands have together") {
  CHECK(hd::isdtype(hd::int8, "signed integer"));
  CHECK(hd::isdtype(hd::uint8, "integral"));
  CHECK(hd::isdtype(hd::float16, "real floating"));
  CHECK_FALSE(hd::isdtype(hd::bool_, "numeric"));
  CHECK_THROWS_AS(hd::isdtype(hd::int8, "number"), hd::ValueError);
  const hd::Array i8 = hd::ones<std::int8_t>({2}), f32 = hd::ones<float>({2});
  CHECK(hd::result_type({i8, 1}) == hd::int8);
  CHECK(hd::result_type({i8, f32, 1.0}) == hd::float32);
  CHECK(hd::result_type({i8, 2.0}) == hd::float64);
  CHECK_THROWS_AS(hd::result_type(std::span<const hd::Operand>()), hd::ValueError);
}
