#pragma once

// Matrices, their Cholesky factors as float64 has them, and programs that factorise them.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "passes/pipeline/program_builder.h"
#include "runtime/calls/handlers.h"
#include "runtime/device/memory.h"
#include "runtime/execute/executable.h"
#include "runtime/host/libraries/lapack.h"
#include "runtime/launch/program_runner.h"
#include "tests/runtime/helpers.h"

namespace heddle::test {

using namespace heddle::runtime;

constexpr Device cpu{};
using Ref = passes::BufferRef;
using Infos = std::vector<std::int32_t>;

template <class T>
struct Element {
  static constexpr DType dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;
  using Real = T;
  using Wide = double;
};
template <class T>
struct Element<std::complex<T>> {
  static constexpr DType dtype = std::is_same_v<T, float> ? DType::c64 : DType::c128;
  using Real = T;
  using Wide = std::complex<double>;
};

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

/// Calls test(T()) for the elements that a factorisation takes, and for both triangles.
template <class Test>
void for_each_kind(const Test& test) {
  for (const bool upper : {false, true}) {
    CAPTURE(upper);
    test(float(), upper);
    test(double(), upper);
    test(std::complex<float>(), upper);
    test(std::complex<double>(), upper);
  }
}

enum class Other : std::uint8_t { kept, zero, any };  ///< what the other triangle has to be

/// Matrices of which one triangle counts, and their factors as float64 or complex128 has them.
template <class T>
struct Problem {
  using Wide = typename Element<T>::Wide;
  static constexpr DType dtype = Element<T>::dtype;

  bool upper = false;
  std::int64_t n = 0, batch = 0;
  std::vector<T> given;
  std::vector<Wide> factors;  ///< the triangle that counts
  Infos infos;

  /// Every third matrix is not positive definite where `some_fail`.
  Problem(bool upper, std::int64_t n, std::int64_t batch, bool some_fail = false)
      : upper(upper), n(n), batch(batch) {
    test::Random random(static_cast<std::uint64_t>(n * 64 + batch));
    const auto number = [&] { return static_cast<double>(random.below(2001)) / 1000 - 1; };
    for (std::int64_t k = 0; k < n * n * batch; ++k) {
      const std::int64_t row = k / n % n, column = k % n;
      double real = number(), imaginary = number();
      if (row == column) {
        // Its eigenvalues are positive: those of the rest are within 2 sqrt(n).
        real += 4 * std::sqrt(static_cast<double>(n)) + 1, imaginary = 0;
        const bool fails = some_fail && k / (n * n) % 3 == 1;
        if (fails && row == n / 2) real = -1;
      }
      if constexpr (std::is_floating_point_v<T>) {
        given.push_back(static_cast<T>(real));
      } else {
        given.emplace_back(static_cast<typename T::value_type>(real),
                           static_cast<typename T::value_type>(imaginary));
      }
    }
    factors.resize(given.size());
    for (std::int64_t i = 0; i < batch; ++i) infos.push_back(factorise(i * n * n));
  }

  bool counts(std::int64_t k) const {
    const std::int64_t row = k / n % n, column = k % n;
    return upper ? row <= column : column <= row;
  }

  /// What is wrong with factors, in words; empty if nothing is.
  std::string fault(const std::vector<T>& got, const Infos& statuses, Other other) const {
    if (statuses != infos) return "statuses";
    double worst = 0, scale = 1;
    for (const Wide& factor : factors) scale = std::max(scale, std::abs(factor));
    for (std::int64_t k = 0; k < n * n * batch; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const bool failed = infos[static_cast<std::size_t>(k / (n * n))] != 0;
      const std::string place = std::to_string(k);
      if (failed && other == Other::zero) {
        if (got[at] == got[at]) return "no NaN at " + place;
      } else if (!counts(k)) {
        if (other == Other::zero && got[at] != T(0)) return "no 0 at " + place;
        if (other == Other::kept && got[at] != given[at]) return "a change at " + place;
      } else if (!failed) {
        const double error = std::abs(Wide(got[at]) - factors[at]);
        worst = std::isnan(error) ? error : std::max(worst, error);
        if (std::isnan(worst)) return "NaN at " + place;
      }
    }
    constexpr double eps = std::numeric_limits<typename Element<T>::Real>::epsilon();
    return worst <= 100 * eps * scale ? "" : "an error of " + std::to_string(worst / eps) + " eps";
  }

 private:
  /// The matrix at `start`. An upper factor is the conjugate transpose of the lower one.
  std::int32_t factorise(std::int64_t start) {
    const auto place = [=, this](std::int64_t row, std::int64_t column) {
      return static_cast<std::size_t>(start + (upper ? column * n + row : row * n + column));
    };
    std::vector<Wide> lower(static_cast<std::size_t>(n * n));
    const auto at = [&](std::int64_t row, std::int64_t column) -> Wide& {
      return lower[static_cast<std::size_t>(row * n + column)];
    };
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        const Wide element(given[place(i, j)]);
        Wide sum = upper ? conjugate(element) : element;
        for (std::int64_t k = 0; k < j; ++k) sum -= at(i, k) * conjugate(at(j, k));
        if (i != j) {
          at(i, j) = sum / at(j, j);
        } else if (std::real(sum) > 0) {
          at(i, i) = std::sqrt(std::real(sum));
        } else {
          return static_cast<std::int32_t>(i + 1);
        }
        factors[place(i, j)] = upper ? conjugate(at(i, j)) : at(i, j);
      }
    }
    return 0;
  }
};

/// Infos that no factorisation gives.
inline Infos unset(std::int64_t batch) { return Infos(static_cast<std::size_t>(batch), -77); }

inline std::string graph_text(DType dtype, bool upper, const std::string& results = "%1, %2") {
  const std::string matrices = std::string(name_of(dtype)) + "[b,n,n]", infos = "i32[b]";
  const std::string types = results == "%1"   ? matrices
                            : results == "%2" ? infos
                                              : "(" + matrices + ", " + infos + ")";
  return "func @f(%0: " + matrices + ") -> " + types + " {\n  %1, %2 = call linalg.cholesky %0 " +
         "{upper = " + (upper ? "true" : "false") + "} : " + matrices + ", " + infos +
         "\n  return " + results + "\n}\n";
}

template <class T>
DeviceArray upload(const Problem<T>& problem, const Stream& stream) {
  const std::size_t bytes = problem.given.size() * sizeof(T);
  DeviceArray array{
      {problem.dtype, {problem.batch, problem.n, problem.n}}, allocate(bytes, stream), 0};
  copy(array.buffer->pointer(), stream.device(), problem.given.data(), cpu, bytes, stream);
  return array;
}

template <class T>
std::vector<T> download(const DeviceArray& array, const Stream& stream) {
  std::vector<T> values(static_cast<std::size_t>(ir::element_count(array.type.shape).constant()));
  if (values.empty()) return values;
  const auto* const from = static_cast<const std::byte*>(array.buffer->pointer()) + array.offset;
  copy(values.data(), cpu, from, stream.device(), values.size() * sizeof(T), stream);
  stream.synchronize();
  return values;
}

/// The call as a program for this target has it.
/// A GPU's programs factorise transposes, whose upper triangles are the lower ones.
inline passes::CallStep planned_call(DType dtype, bool upper, const char* target) {
  const passes::PlannedProgram planned = passes::plan_program(
      ir::parse(graph_text(dtype, true)), {ir::parse_target(target), {}, {}, {}});
  for (const passes::Step& step : planned.program.steps) {
    if (step.call() == nullptr) continue;
    passes::CallStep call = *step.call();
    call.values.set("upper", upper);
    return call;
  }
  FAIL("no step calls linalg.cholesky");
  return {};
}

}  // namespace heddle::test
