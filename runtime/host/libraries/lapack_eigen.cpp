#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "runtime/host/libraries/lapack_session.h"
#include "runtime/host/libraries/lapack_spectral.h"
#include "runtime/host/libraries/spare_column.h"

namespace heddle::runtime::lapack {

namespace {

/// Calls function(T()) for the type of the parts of elements.
template <class Function>
auto with_part(DType dtype, const Function& function) {
  const DType part = is_complex(dtype) ? real_dtype(dtype) : dtype;
  return part == DType::f32 ? function(float()) : function(double());
}

std::int64_t parts_of(DType dtype, std::int64_t count) {
  return is_complex(dtype) ? 2 * count : count;
}

/// Whether the triangle that counts is finite. The diagonal counts as real.
bool is_finite_triangle(DType dtype, bool upper, std::int64_t n, const void* matrix) {
  const auto* const elements = static_cast<const std::byte*>(matrix);
  const std::size_t size = size_of(dtype);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t first = upper ? i + 1 : 0, count = upper ? n - i - 1 : i;
    const std::byte* const row = elements + static_cast<std::size_t>(i * n) * size;
    const std::byte* const diagonal = row + static_cast<std::size_t>(i) * size;
    const DType real = is_complex(dtype) ? real_dtype(dtype) : dtype;
    if (!kinds_of(real, diagonal, 1).finite()) return false;
    if (!kinds_of(dtype, row + static_cast<std::size_t>(first) * size, count).finite())
      return false;
  }
  return true;
}

/// syevd or heevd for one problem size.
class HermitianSolver {
 public:
  HermitianSolver(const Routines& routines, DType dtype, bool upper, bool vectors, std::int64_t n)
      : routines_(routines),
        job_(vectors ? 'V' : 'N'),
        // LAPACK sees the transpose: our lower triangle is its upper one.
        triangle_(upper ? 'L' : 'U'),
        n_(checked_extent(n)) {
    std::byte answer[16] = {}, real_answer[16] = {};
    int integers = 0;
    work_size_ = real_size_ = integer_size_ = -1;
    call(nullptr, nullptr, answer, real_answer, &integers);
    work_size_ = checked_extent(answered_size(dtype, answer));
    real_size_ =
        is_complex(dtype) ? checked_extent(answered_size(real_dtype(dtype), real_answer)) : 0;
    integer_size_ = integers;
    work_ = std::make_unique<Workspace>(static_cast<std::size_t>(work_size_) * size_of(dtype));
    reals_ = std::make_unique<Workspace>(static_cast<std::size_t>(real_size_) * sizeof(double));
    integers_.resize(static_cast<std::size_t>(integer_size_));
  }
  int operator()(void* matrix, void* w) {
    return call(matrix, w, work_->get(), reals_->get(), integers_.data());
  }

 private:
  int call(void* matrix, void* w, void* work, void* reals, int* integers) {
    int info = 0;
    if (routines_.syevd != nullptr) {
      routines_.syevd(&job_, &triangle_, &n_, matrix, &n_, w, work, &work_size_, integers,
                      &integer_size_, &info, 1, 1);
    } else {
      routines_.heevd(&job_, &triangle_, &n_, matrix, &n_, w, work, &work_size_, reals, &real_size_,
                      integers, &integer_size_, &info, 1, 1);
    }
    return info;
  }

  const Routines& routines_;
  char job_, triangle_;
  int n_, work_size_ = 0, real_size_ = 0, integer_size_ = 0;
  std::unique_ptr<Workspace> work_, reals_;
  std::vector<int> integers_;
};

/// geev for one problem size.
class GeneralSolver {
 public:
  GeneralSolver(const Routines& routines, DType dtype, bool vectors, std::int64_t n)
      : routines_(routines),
        dtype_(dtype),
        job_(vectors ? 'V' : 'N'),
        n_(checked_extent(n)),
        reals_(2 * static_cast<std::size_t>(n) * sizeof(double)) {
    std::byte answer[16] = {};
    work_size_ = -1;
    call(nullptr, nullptr, nullptr, answer);
    work_size_ = checked_extent(answered_size(dtype, answer));
    work_ = std::make_unique<Workspace>(static_cast<std::size_t>(work_size_) * size_of(dtype));
  }
  int operator()(void* matrix, void* w, void* rows) {
    const int info = call(matrix, w, rows, work_->get());
    if (is_complex(dtype_)) return info;
    with_part(dtype_, [&]<class T>(T) {
      const T* const parts = reals_.get<T>();
      for (int i = 0; i < n_; ++i) {
        static_cast<T*>(w)[2 * i] = parts[i];
        static_cast<T*>(w)[2 * i + 1] = parts[n_ + i];
      }
    });
    return info;
  }

 private:
  int call(void* matrix, void* w, void* rows, void* work) {
    int info = 0;
    const int one = 1;
    const char none = 'N';
    const int* const ldrows = job_ == 'N' ? &one : &n_;
    if (routines_.geev_real != nullptr) {
      auto* const real = reals_.get<std::byte>();
      auto* const imaginary = real + static_cast<std::size_t>(n_) * size_of(dtype_);
      routines_.geev_real(&none, &job_, &n_, matrix, &n_, real, imaginary, nullptr, &one, rows,
                          ldrows, work, &work_size_, &info, 1, 1);
    } else {
      routines_.geev_complex(&none, &job_, &n_, matrix, &n_, w, nullptr, &one, rows, ldrows, work,
                             &work_size_, reals_.get(), &info, 1, 1);
    }
    return info;
  }

  const Routines& routines_;
  DType dtype_;
  char job_;
  int n_, work_size_ = 0;
  Workspace reals_;
  std::unique_ptr<Workspace> work_;
};

double cube(std::int64_t n) {
  return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
}

}  // namespace

void eigh(DType dtype, bool upper, bool vectors, std::int64_t n, std::int64_t batch, void* matrices,
          void* w, std::int32_t* statuses) {
  const Session session(dtype);
  const DType real = is_complex(dtype) ? real_dtype(dtype) : dtype;
  const std::size_t bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const std::size_t value_bytes = static_cast<std::size_t>(n) * size_of(real);
  for_parts_alone(batch, n, threads_pay, 4 * cube(n) + 1000,
                  [&](std::int64_t begin, std::int64_t end) {
                    HermitianSolver solver(session.routines(), dtype, upper, vectors, n);
                    const SpareColumn square(dtype, n, n);
                    for (std::int64_t i = begin; i < end; ++i) {
                      void* const matrix = matrix_at(matrices, i, bytes);
                      void* const values = matrix_at(w, i, value_bytes);
                      const bool finite = is_finite_triangle(dtype, upper, n, matrix);
                      const auto solve = [&](void* memory) { return solver(memory, values); };
                      statuses[i] = finite    ? square.with(matrix, i + 1 == batch, solve)
                                    : vectors ? 0
                                              : not_finite;
                      if (finite && statuses[i] == 0) continue;
                      set_nan(real, values, n);
                      set_nan(dtype, matrix, n * n);
                    }
                  });
}

void eig(DType dtype, std::int64_t n, std::int64_t batch, void* matrices, void* w, void* rows,
         std::int32_t* statuses) {
  const Session session(dtype);
  const DType value = complex_dtype(dtype);
  const std::size_t bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const std::size_t value_bytes = static_cast<std::size_t>(n) * size_of(value);
  for_parts_alone(batch, n, threads_pay, 20 * cube(n) + 1000,
                  [&](std::int64_t begin, std::int64_t end) {
                    GeneralSolver solve(session.routines(), dtype, rows != nullptr, n);
                    for (std::int64_t i = begin; i < end; ++i) {
                      void* const matrix = matrix_at(matrices, i, bytes);
                      void* const values = matrix_at(w, i, value_bytes);
                      void* const vectors = rows == nullptr ? nullptr : matrix_at(rows, i, bytes);
                      const bool finite = kinds_of(dtype, matrix, n * n).finite();
                      statuses[i] = finite ? solve(matrix, values, vectors) : not_finite;
                      if (statuses[i] == 0) continue;
                      set_nan(value, values, n);
                      if (vectors != nullptr) set_nan(dtype, vectors, n * n);
                    }
                  });
}

Elements kinds_of(DType dtype, const void* elements, std::int64_t count) {
  return with_part(dtype, [&]<class T>(T) {
    const auto* const parts = static_cast<const T*>(elements);
    const std::int64_t end = parts_of(dtype, count);
    // x - x is 0 for a finite x and NaN for others. One sum is enough for matrices that are finite.
    T sum = 0;
    for (std::int64_t i = 0; i < end; ++i) sum += parts[i] - parts[i];
    Elements found;
    if (sum == 0) return found;
    for (std::int64_t i = 0; i < end; ++i) {
      found.nan |= std::isnan(parts[i]);
      found.infinity |= std::isinf(parts[i]);
    }
    return found;
  });
}

void set_nan(DType dtype, void* elements, std::int64_t count) {
  with_part(dtype, [&]<class T>(T) {
    auto* const parts = static_cast<T*>(elements);
    const std::int64_t step = is_complex(dtype) ? 2 : 1;
    for (std::int64_t i = 0; i < parts_of(dtype, count); ++i)
      parts[i] = i % step == 0 ? std::numeric_limits<T>::quiet_NaN() : T(0);
  });
}

std::int64_t answered_size(DType dtype, const void* work) {
  return with_part(dtype, [&]<class T>(T) {
    T size = 0;
    std::memcpy(&size, work, sizeof size);
    // float32 rounds large sizes, perhaps down: the next float is enough.
    return static_cast<std::int64_t>(std::nextafter(size, std::numeric_limits<T>::infinity())) + 1;
  });
}

}  // namespace heddle::runtime::lapack
