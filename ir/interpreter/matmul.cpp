#include <algorithm>
#include <vector>

#include "ir/interpreter/functions.h"
#include "ir/types/element.h"

namespace heddle::ir::interpreter {
namespace {

template <class T>
auto accumulator_of(T x) {
  if constexpr (heddle_scalar::is_integer<T>) {
    return heddle_scalar::ring(x);
  } else if constexpr (heddle_scalar::is_complex<T>) {
    return heddle_scalar::cast<heddle_scalar::complex128>(x);
  } else {
    return heddle_scalar::cast<double>(x);
  }
}

template <class T>
void run_matmul(const std::byte* a_data, const std::byte* b_data, std::byte* result, std::size_t m,
                std::size_t k, std::size_t n) {
  const auto* a = reinterpret_cast<const T*>(a_data);
  const auto* b = reinterpret_cast<const T*>(b_data);
  auto* out = reinterpret_cast<T*>(result);
  using Accumulator = decltype(accumulator_of(T()));
  std::vector<Accumulator> row(n);
  for (std::size_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), Accumulator(0));
    for (std::size_t l = 0; l < k; ++l) {
      const Accumulator factor = accumulator_of(a[i * k + l]);
      for (std::size_t j = 0; j < n; ++j) {
        row[j] = row[j] + factor * accumulator_of(b[l * n + j]);
      }
    }
    for (std::size_t j = 0; j < n; ++j) out[i * n + j] = heddle_scalar::cast<T>(row[j]);
  }
}

}  // namespace

MatmulFunction matmul_function(DType dtype) {
  return with_element(
      dtype, []<class T>(std::type_identity<T>) -> MatmulFunction { return &run_matmul<T>; });
}

}  // namespace heddle::ir::interpreter
