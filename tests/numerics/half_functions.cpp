#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/graph/graph.h"
#include "ir/types/scalar.h"
#include "tests/cases/programs.h"
#include "tests/support/host_arrays.h"

namespace heddle::test {
namespace {

using heddle_scalar::half;

constexpr unsigned int all_halves = 65536;

struct Function {
  std::string_view name;
  half (*of_half)(half);
  double (*exact)(double);
  int most_wrong;  ///< results of all halves that are not the nearest: twice those measured, and 2
};

#define HALF_FUNCTION(name, function, most_wrong)                                  \
  Function {                                                                       \
    #name, [](half x) { return heddle_scalar::name(x); },                          \
        [](double x) { return static_cast<double>(std::function(x)); }, most_wrong \
  }

const Function functions[] = {
    HALF_FUNCTION(exp, exp, 12),       HALF_FUNCTION(exp2, exp2, 10),
    HALF_FUNCTION(expm1, expm1, 6),    HALF_FUNCTION(log, log, 12),
    HALF_FUNCTION(log2, log2, 10),     HALF_FUNCTION(log10, log10, 10),
    HALF_FUNCTION(log1p, log1p, 28),   HALF_FUNCTION(sin, sin, 12),
    HALF_FUNCTION(cos, cos, 6),        HALF_FUNCTION(tan, tan, 6),
    HALF_FUNCTION(arcsin, asin, 2),    HALF_FUNCTION(arccos, acos, 24),
    HALF_FUNCTION(arctan, atan, 20),   HALF_FUNCTION(sinh, sinh, 6),
    HALF_FUNCTION(cosh, cosh, 6),      HALF_FUNCTION(tanh, tanh, 12),
    HALF_FUNCTION(arcsinh, asinh, 20), HALF_FUNCTION(arccosh, acosh, 6),
    HALF_FUNCTION(arctanh, atanh, 20), HALF_FUNCTION(cbrt, cbrt, 2),
    HALF_FUNCTION(erf, erf, 20),
};

half half_of(unsigned int bits) { return half{static_cast<unsigned short>(bits)}; }
bool is_nan(half x) { return (x.bits & 0x7fff) > 0x7c00; }
bool is_infinite_or_nan(half x) { return (x.bits & 0x7c00) == 0x7c00; }
bool is_negative(half x) { return (x.bits & 0x8000) != 0; }

/// Halves from one to the other: infinity stands behind the last, and zeros are one.
int steps_between(half a, half b) {
  const auto place = [](half x) { return is_negative(x) ? -(x.bits & 0x7fff) : x.bits & 0x7fff; };
  return std::abs(place(a) - place(b));
}

bool same(half a, half b) { return a.bits == b.bits || (is_nan(a) && is_nan(b)); }

TEST_CASE("functions of half are within a unit in its last place, and few are not the nearest") {
  for (const Function& function : functions) {
    CAPTURE(function.name);
    int wrong = 0, worst = 0;
    for (unsigned int bits = 0; bits < all_halves; ++bits) {
      CAPTURE(bits);
      const half x = half_of(bits);
      const half result = function.of_half(x);
      const half nearest = half::from(function.exact(heddle_scalar::widen(x)));
      if (is_nan(nearest) || is_nan(result)) {
        if (is_nan(nearest) != is_nan(result)) FAIL_CHECK("NaN for a number, or not for NaN");
        continue;
      }
      if (is_negative(result) != is_negative(nearest)) FAIL_CHECK("the sign is wrong");
      if (is_infinite_or_nan(result) != is_infinite_or_nan(nearest)) FAIL_CHECK("infinity");
      wrong += result.bits != nearest.bits;
      worst = std::max(worst, steps_between(result, nearest));
    }
    CHECK(worst <= 1);
    CHECK(wrong <= function.most_wrong);
    fmt::print("{} of half: {} of {} not the nearest, by at most {}\n", function.name, wrong,
               all_halves, worst);
  }
}

/// What the compiler of the host's kernels makes of the functions, by Function.
std::vector<std::vector<half>> compiled_results(bool strict) {
  std::vector<Job> jobs;
  for (const Function& function : functions) {
    Job job{
        ir::parse(fmt::format("func @f(%0: f16[65536]) -> f16[65536] {{\n"
                              "  %1 = {} %0 : f16[65536]\n  return %1\n}}",
                              function.name))};
    job.options.strict = strict;
    jobs.push_back(std::move(job));
  }
  std::vector<half> halves;
  for (unsigned int bits = 0; bits < all_halves; ++bits) halves.push_back(half_of(bits));
  const ir::HostArray input = host_array(DType::f16, {all_halves}, std::span<const half>(halves));
  const auto programs = compile_for_host(jobs);
  std::vector<std::vector<half>> results;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto outputs = programs->run(i, {&input, 1});
    REQUIRE(outputs.at(0).data.size() == input.data.size());
    std::memcpy(halves.data(), outputs[0].data.data(), input.data.size());
    results.push_back(halves);
  }
  return results;
}

// Contraction moves the last bits of the floats that are rounded, so that of a few results, those
// that lie in the middle between two halves, the other one is given.
TEST_CASE("compiled functions of half are the scalar ones, and but for contraction bit by bit") {
  for (const bool strict : {true, false}) {
    CAPTURE(strict);
    const auto results = compiled_results(strict);
    for (std::size_t i = 0; i < std::size(functions); ++i) {
      CAPTURE(functions[i].name);
      int different = 0, worst = 0;
      for (unsigned int bits = 0; bits < all_halves; ++bits) {
        const half expected = functions[i].of_half(half_of(bits));
        const half result = results[i][bits];
        if (same(result, expected)) continue;
        ++different;
        const bool comparable = is_nan(result) == is_nan(expected);
        worst = std::max(worst, comparable ? steps_between(result, expected) : 65536);
      }
      CHECK(worst <= (strict ? 0 : 1));
      CHECK(different <= (strict ? 0 : functions[i].most_wrong));
    }
  }
}

}  // namespace
}  // namespace heddle::test
