#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include "runtime/host/libraries/lapack_spectral.h"
#include "runtime/host/libraries/openblas.h"
#include "tests/runtime/helpers.h"

// OpenBLAS may read beyond complex matrices (runtime/host/libraries/spare_column.h). Here nothing
// is mapped beyond them: a read there ends the test with SIGSEGV.

using namespace heddle;
namespace lapack = runtime::lapack;

namespace {

/// `count` elements that end where mapped memory ends.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::int64_t count) : count_(static_cast<std::size_t>(count)) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t used = (count_ * sizeof(T) + page - 1) / page * page;
    mapped_ = used + page;
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory_ != MAP_FAILED);
    REQUIRE(mprotect(memory_ + used, page, PROT_NONE) == 0);
    first_ = reinterpret_cast<T*>(memory_ + used) - count_;
  }
  ~Guarded() { munmap(memory_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() const { return first_; }
  std::span<T> all() const { return {first_, count_}; }

 private:
  std::size_t count_, mapped_ = 0;
  std::byte* memory_ = nullptr;
  T* first_ = nullptr;
};

template <class T>
constexpr DType dtype_for = sizeof(T) == 8 ? DType::c64 : DType::c128;

template <class T>
void fill(std::span<T> elements, std::uint64_t seed) {
  test::Random random(seed);
  for (T& element : elements) {
    const auto number = [&] { return static_cast<float>(random.below(2001)) / 1000 - 1; };
    const float real = number();
    element = T(real, number());
  }
}

template <class T>
void decompose(std::int64_t m, std::int64_t n, bool full) {
  CAPTURE(m);
  CAPTURE(n);
  using Real = typename T::value_type;
  constexpr std::int64_t batch = 2;
  const std::int64_t k = std::min(m, n), left = full ? m : k, right = full ? n : k;
  const Guarded<T> a(batch * m * n), u(batch * m * left), vh(batch * right * n);
  const Guarded<Real> s(batch * k);
  const Guarded<std::int32_t> statuses(batch);
  fill(a.all(), 1);
  lapack::svd(dtype_for<T>, full, m, n, batch, a.data(),
              {u.data(), s.data(), vh.data(), statuses.data()});
  double largest = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    REQUIRE(statuses.data()[b] == 0);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        std::complex<double> sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          sum += std::complex<double>(u.data()[(b * m + i) * left + l]) *
                 std::complex<double>(vh.data()[(b * right + l) * n + j]) *
                 static_cast<double>(s.data()[b * k + l]);
        }
        largest =
            std::max(largest, std::abs(sum - std::complex<double>(a.data()[(b * m + i) * n + j])));
      }
    }
  }
  CHECK(largest < static_cast<double>(m + n) * std::numeric_limits<Real>::epsilon() * 4);
}

template <class T>
void eigenvalues(std::int64_t n) {
  CAPTURE(n);
  using Real = typename T::value_type;
  for (const bool upper : {false, true}) {
    const Guarded<T> a(n * n);
    const Guarded<Real> w(n);
    std::int32_t status = -1;
    fill(a.all(), 2);
    double trace = 0, sum = 0;
    for (std::int64_t i = 0; i < n; ++i) trace += a.data()[i * (n + 1)].real();
    lapack::eigh(dtype_for<T>, upper, true, n, 1, a.data(), w.data(), &status);
    REQUIRE(status == 0);
    for (const Real value : w.all()) sum += value;
    CHECK(sum == doctest::Approx(trace).epsilon(static_cast<double>(n * n) *
                                                std::numeric_limits<Real>::epsilon()));
  }
}

/// x^T a, for a column x of a matrix with `step` columns.
template <class T>
void multiply_column(std::int64_t depth, std::int64_t columns, std::int64_t step) {
  CAPTURE(depth);
  CAPTURE(columns);
  const Guarded<T> x((depth - 1) * step + 1), a(depth * columns), out(columns);
  fill(x.all(), 3);
  fill(a.all(), 4);
  runtime::Gemm product;
  product.dtype = dtype_for<T>;
  product.rows = 1;
  product.columns = columns;
  product.depth = depth;
  product.a_transposed = true;
  product.a_leading = step;
  product.b_leading = columns;
  runtime::openblas::gemm(product, x.data(), a.data(), out.data());
  using Real = typename T::value_type;
  for (std::int64_t j = 0; j < columns; ++j) {
    std::complex<double> sum = 0;
    for (std::int64_t i = 0; i < depth; ++i) {
      sum += std::complex<double>(x.data()[i * step]) *
             std::complex<double>(a.data()[i * columns + j]);
    }
    CHECK(std::abs(sum - std::complex<double>(out.data()[j])) <
          static_cast<double>(depth) * std::numeric_limits<Real>::epsilon() * 4);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("nothing beyond complex matrices is read", T, std::complex<float>,
                   std::complex<double>) {
  const std::string& reason = runtime::openblas::unavailable_reason();
  REQUIRE_MESSAGE(reason.empty(), reason);
  for (const bool full : {false, true}) {
    for (const auto& [m, n] : {std::pair(6, 4), {2, 2}, {4, 6}, {17, 5}, {67, 33}, {227, 131}})
      decompose<T>(m, n, full);
  }
  for (const std::int64_t n : {35, 67, 131}) eigenvalues<T>(n);
  for (const std::int64_t columns : {2, 3, 7, 34}) {
    for (const std::int64_t step : {2, 5}) multiply_column<T>(9, columns, step);
  }
}
