#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/host/libraries/lapack_session.h"
#include "runtime/host/libraries/lapack_spectral.h"
#include "runtime/host/libraries/spare_column.h"

namespace heddle::runtime::lapack {

namespace {

/// The calls for one problem size. LAPACK is column-major and sees the transpose of a matrix in C
/// order. a^T = conj(v) s u^T, so its left vectors in column order are vh in C order, and its right
/// ones are u.
class Gesdd {
 public:
  Gesdd(const Routines& routines, DType dtype, bool vectors, bool full, std::int64_t m,
        std::int64_t n)
      : routines_(routines),
        dtype_(dtype),
        job_(!vectors ? 'N'
             : full   ? 'A'
                      : 'S'),
        m_(checked_extent(n)),
        n_(checked_extent(m)),
        ldvt_(full ? n_ : std::min(m_, n_)) {
    const auto least = static_cast<std::size_t>(std::min(m_, n_));
    const auto most = static_cast<std::size_t>(std::max(m_, n_));
    integers_.resize(8 * least);
    if (is_complex(dtype)) {
      const std::size_t with_vectors = least * std::max(5 * least + 5, 2 * most + 2 * least + 1);
      reals_ = std::make_unique<Workspace>((vectors ? with_vectors : 7 * least) *
                                           size_of(real_dtype(dtype)));
    }
    std::byte answer[16] = {};
    work_size_ = -1;
    call(nullptr, nullptr, nullptr, nullptr, answer);
    work_size_ = checked_extent(answered_size(dtype, answer));
    work_ = std::make_unique<Workspace>(static_cast<std::size_t>(work_size_) * size_of(dtype));
  }

  /// Overwrites the matrix. Returns LAPACK's info.
  int operator()(void* matrix, void* s, void* u, void* vt) {
    return call(matrix, s, u, vt, work_->get());
  }

 private:
  int call(void* matrix, void* s, void* u, void* vt, void* work) {
    int info = 0;
    const int one = 1;
    const int* const ldu = job_ == 'N' ? &one : &m_;
    const int* const ldvt = job_ == 'N' ? &one : &ldvt_;
    if (routines_.gesdd_real != nullptr) {
      routines_.gesdd_real(&job_, &m_, &n_, matrix, &m_, s, u, ldu, vt, ldvt, work, &work_size_,
                           integers_.data(), &info, 1);
    } else {
      routines_.gesdd_complex(&job_, &m_, &n_, matrix, &m_, s, u, ldu, vt, ldvt, work, &work_size_,
                              reals_->get(), integers_.data(), &info, 1);
    }
    return info;
  }

  const Routines& routines_;
  DType dtype_;
  char job_;
  int m_, n_, ldvt_, work_size_ = 0;
  std::vector<int> integers_;
  std::unique_ptr<Workspace> reals_, work_;
};

/// A result's matrices, as bytes and elements.
struct Part {
  void* memory;
  DType dtype;
  std::int64_t elements;  ///< of one matrix

  void* of(std::int64_t i) const {
    return memory == nullptr
               ? nullptr
               : matrix_at(memory, i, static_cast<std::size_t>(elements) * size_of(dtype));
  }
};

}  // namespace

void svd(DType dtype, bool full, std::int64_t m, std::int64_t n, std::int64_t batch,
         const void* matrices, const SvdResults& results) {
  const Session session(dtype);
  const std::int64_t k = std::min(m, n);
  const Part u{results.u, dtype, m * (full ? m : k)}, vh{results.vh, dtype, (full ? n : k) * n};
  const Part s{results.s, real_dtype(dtype), k};
  const std::size_t bytes = static_cast<std::size_t>(m * n) * size_of(dtype);
  const auto decompose = [&](std::int64_t begin, std::int64_t end) {
    Gesdd gesdd(session.routines(), dtype, results.u != nullptr, full, m, n);
    const Workspace matrix(bytes + static_cast<std::size_t>(n) * size_of(dtype));
    const SpareColumn right(dtype, full ? m : k, m);
    for (std::int64_t i = begin; i < end; ++i) {
      std::int32_t& status = results.statuses[i];
      std::memcpy(matrix.get(), matrix_at(matrices, i, bytes), bytes);
      const Elements elements = kinds_of(dtype, matrix.get(), m * n);
      if (elements.finite()) {
        status = right.with(u.of(i), i + 1 == batch,
                            [&](void* vt) { return gesdd(matrix.get(), s.of(i), vh.of(i), vt); });
        if (status == 0) continue;
      } else {
        status = elements.nan ? not_finite : 0;
      }
      for (const Part& part : {u, s, vh}) {
        if (part.memory != nullptr) set_nan(part.dtype, part.of(i), part.elements);
      }
    }
  };
  const double work = 10.0 * static_cast<double>(m * n) * static_cast<double>(k) + 1000;
  for_parts_alone(batch, k, threads_pay, work, decompose);
}

}  // namespace heddle::runtime::lapack
