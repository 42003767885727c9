#include "runtime/host/libraries/division.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "heddle/error.h"

#include "ir/types/quotient.h"

namespace heddle::runtime::lapack {

namespace {

using heddle_scalar::complex128;
using heddle_scalar::complex64;
using heddle_scalar::quotient;

template <class Function>
auto with_type(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::f32:
      return function(std::type_identity<float>());
    case DType::f64:
      return function(std::type_identity<double>());
    case DType::c64:
      return function(std::type_identity<complex64>());
    case DType::c128:
      return function(std::type_identity<complex128>());
    default:
      throw InternalError("LAPACK has no such elements");
  }
}

template <class Part>
Part quotient(Part a, Part b) {
  return a / b;
}
template <class Part>
Part size_of_element(Part x) {
  return std::abs(x);
}
template <class Part>
Part size_of_element(heddle_scalar::complex<Part> x) {
  return std::abs(x.re) + std::abs(x.im);
}
template <class Part>
Part conjugate_of(Part x) {
  return x;
}
template <class Part>
heddle_scalar::complex<Part> conjugate_of(heddle_scalar::complex<Part> x) {
  return {x.re, -x.im};
}
template <class T>
using PartOf = decltype(size_of_element(T()));

template <class Part>
bool any_tiny(const Part* parts, std::int64_t count) {
  constexpr Part tiny = std::numeric_limits<Part>::min() / std::numeric_limits<Part>::epsilon();
  bool found = false;
  for (std::int64_t i = 0; i < count; ++i)
    found |= static_cast<bool>((parts[i] != 0) & (std::abs(parts[i]) < tiny));
  return found;
}

template <class T>
void eliminate_in(std::int64_t rows, std::int64_t columns, T* a, std::int32_t* pivots,
                  std::int32_t* info) {
  *info = 0;
  for (std::int64_t j = 0; j < std::min(rows, columns); ++j) {
    T* const column = a + j * rows;
    std::int64_t pivot = j;
    for (std::int64_t i = j + 1; i < rows; ++i) {
      if (size_of_element(column[i]) > size_of_element(column[pivot])) pivot = i;
    }
    pivots[j] = static_cast<std::int32_t>(pivot + 1);
    if (size_of_element(column[pivot]) == 0) {
      if (*info == 0) *info = static_cast<std::int32_t>(j + 1);
      continue;
    }
    for (std::int64_t c = 0; c < columns; ++c) std::swap(a[c * rows + j], a[c * rows + pivot]);
    for (std::int64_t i = j + 1; i < rows; ++i) column[i] = quotient(column[i], column[j]);
    for (std::int64_t c = j + 1; c < columns; ++c) {
      T* const other = a + c * rows;
      for (std::int64_t i = j + 1; i < rows; ++i) other[i] = other[i] - column[i] * other[j];
    }
  }
}

template <class T>
void substitute_in(const Substitution& system, const T* m, T* b) {
  const std::int64_t n = system.n;
  const auto element = [&](std::int64_t i, std::int64_t j) {
    const T one = system.transposed ? m[i * n + j] : m[j * n + i];
    return system.conjugated ? conjugate_of(one) : one;
  };
  for (std::int64_t c = 0; c < system.columns; ++c) {
    T* const x = b + c * system.column_step;
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t i = system.forward ? step : n - 1 - step;
      const std::int64_t end = system.forward ? i : n;
      T value = x[i * system.row_step];
      for (std::int64_t j = system.forward ? 0 : i + 1; j < end; ++j)
        value = value - element(i, j) * x[j * system.row_step];
      x[i * system.row_step] = system.unit ? value : quotient(value, element(i, i));
    }
  }
}

}  // namespace

bool has_tiny_elements(DType dtype, const void* elements, std::int64_t count) {
  const std::int64_t parts = is_complex(dtype) ? 2 * count : count;
  if (real_dtype(dtype) == DType::f32) return any_tiny(static_cast<const float*>(elements), parts);
  return any_tiny(static_cast<const double*>(elements), parts);
}

bool must_divide(DType dtype, const void* matrix, std::int64_t rows, std::int64_t count) {
  return with_type(dtype, [&]<class T>(std::type_identity<T>) {
    const T* const elements = static_cast<const T*>(matrix);
    for (std::int64_t j = 0; j < count; ++j) {
      const PartOf<T> size = size_of_element(elements[j * (rows + 1)]);
      if (size != 0 && !(size >= std::numeric_limits<PartOf<T>>::min())) return true;
    }
    return false;
  });
}

void eliminate(DType dtype, std::int64_t rows, std::int64_t columns, void* matrix,
               std::int32_t* pivots, std::int32_t* info) {
  with_type(dtype, [&]<class T>(std::type_identity<T>) {
    eliminate_in(rows, columns, static_cast<T*>(matrix), pivots, info);
  });
}

void substitute(const Substitution& system, const void* m, void* b) {
  with_type(system.dtype, [&]<class T>(std::type_identity<T>) {
    substitute_in(system, static_cast<const T*>(m), static_cast<T*>(b));
  });
}

}  // namespace heddle::runtime::lapack
