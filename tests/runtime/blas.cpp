#include "runtime/libraries/blas.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "runtime/base/bound_library.h"
#include "runtime/host/cpu.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::Device;
using runtime::Gemm;

namespace {

template <class T>
struct Operand {
  std::shared_ptr<std::vector<T>> memory = std::make_shared<std::vector<T>>();
  std::int64_t leading = 0, batch_stride = 0;
  bool transposed = false, conjugated = false;
  T at(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    const std::int64_t r = transposed ? column : row, c = transposed ? row : column;
    const T value = (*memory)[static_cast<std::size_t>(batch * batch_stride + r * leading + c)];
    if constexpr (!std::is_floating_point_v<T>) {
      if (conjugated) return std::conj(value);
    }
    return value;
  }
};

/// Small whole numbers, so that every order of summation gives the same result.
template <class T>
Operand<T> make_operand(test::Random& random, std::int64_t rows, std::int64_t columns,
                        std::int64_t batch, bool transposed, bool repeated) {
  Operand<T> out;
  const std::int64_t stored_rows = transposed ? columns : rows;
  const std::int64_t stored_columns = transposed ? rows : columns;
  out.transposed = transposed;
  out.conjugated = transposed && !std::is_floating_point_v<T>;
  out.leading = stored_columns + 3;
  out.batch_stride = repeated ? 0 : stored_rows * out.leading + 5;
  out.memory->resize(
      static_cast<std::size_t>(stored_rows * out.leading + batch * out.batch_stride));
  const auto number = [&] { return static_cast<float>(random.below(9)) - 4; };
  for (T& value : *out.memory) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(number());
    } else {
      const float real = number();
      value = T(real, number());
    }
  }
  return out;
}

template <class T>
void check_product(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                   std::int64_t batch, const Operand<T>& a, const Operand<T>& b) {
  std::vector<T> out(static_cast<std::size_t>(rows * columns * batch), T{77});
  const Gemm product{.dtype = dtype,
                     .rows = rows,
                     .columns = columns,
                     .depth = depth,
                     .batch = batch,
                     .a_leading = a.leading,
                     .b_leading = b.leading,
                     .a_transposed = a.transposed,
                     .b_transposed = b.transposed,
                     .a_conjugated = a.conjugated,
                     .b_conjugated = b.conjugated,
                     .a_batch_stride = a.batch_stride,
                     .b_batch_stride = b.batch_stride,
                     .out_batch_stride = rows * columns};
  runtime::gemm(product, a.memory->data(), b.memory->data(), out.data(), nullptr,
                runtime::Stream::current(Device{}));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < batch; ++i) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        T sum = 0;
        for (std::int64_t k = 0; k < depth; ++k) sum += a.at(i, r, k) * b.at(i, k, c);
        wrong += out[static_cast<std::size_t>((i * rows + r) * columns + c)] != sum ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}

/// Transposed operands of complex numbers are conjugated.
template <class T>
void check_product(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                   std::int64_t batch, bool a_transposed, bool b_transposed, bool repeated) {
  test::Random random(static_cast<std::uint64_t>(rows * 31 + columns));
  const auto a = make_operand<T>(random, rows, depth, batch, a_transposed, repeated);
  const auto b = make_operand<T>(random, depth, columns, batch, b_transposed, false);
  check_product<T>(dtype, rows, columns, depth, batch, a, b);
  if constexpr (!std::is_floating_point_v<T>) {
    Operand<T> left = a, right = b;
    left.conjugated = right.conjugated = false;
    check_product<T>(dtype, rows, columns, depth, batch, left, right);
  }
}

/// A stack of matrices times their transposes, from either side. The operands share memory.
template <class T>
void check_squares(DType dtype) {
  constexpr std::int64_t rows = 70, columns = 33, batch = 2;
  test::Random random(3);
  Operand<T> matrix = make_operand<T>(random, rows, columns, batch, false, false);
  Operand<T> transposed = matrix;
  transposed.transposed = true;
  for (const bool conjugated : {false, true}) {
    transposed.conjugated = conjugated && !std::is_floating_point_v<T>;
    check_product<T>(dtype, columns, columns, rows, batch, transposed, matrix);
    check_product<T>(dtype, rows, rows, columns, batch, matrix, transposed);
  }
}

/// Before any test opens the library.
const char* const core_at_start = std::getenv("OPENBLAS_CORETYPE");

bool have_openblas() {
  if (runtime::blas_available(Device{})) return true;
  MESSAGE("OpenBLAS is not here: " << runtime::blas_unavailable_reason(Device{}));
  return false;
}

}  // namespace

TEST_CASE("products on the CPU: transposes, batches, repeats and empty extents") {
  if (!have_openblas()) return;
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const bool repeated : {false, true}) {
        check_product<float>(DType::f32, 17, 9, 33, 3, a_transposed, b_transposed, repeated);
        check_product<double>(DType::f64, 5, 64, 7, 2, a_transposed, b_transposed, repeated);
      }
    }
  }
  check_product<float>(DType::f32, 1, 1, 100, 1, false, false, false);
  check_product<float>(DType::f32, 1, 50, 3, 1, true, true, false);
  check_product<float>(DType::f32, 6, 4, 0, 2, false, false, false);
  check_product<float>(DType::f32, 0, 4, 3, 2, false, false, false);
  check_product<float>(DType::f32, 4, 4, 3, 0, false, false, false);
}

TEST_CASE("products with a row or a column on the CPU: layouts, batches and dtypes") {
  if (!have_openblas()) return;
  const std::int64_t shapes[][3] = {{1, 70, 33}, {70, 1, 33}, {1, 2, 5000}, {3000, 1, 2},
                                    {1, 1, 40},  {1, 9, 1},   {9, 1, 1},    {400, 1, 300}};
  for (const auto& [rows, columns, depth] : shapes) {
    for (int layout = 0; layout < 8; ++layout) {
      CAPTURE(rows);
      CAPTURE(columns);
      CAPTURE(layout);
      const bool a = (layout & 1) != 0, b = (layout & 2) != 0, repeated = (layout & 4) != 0;
      check_product<float>(DType::f32, rows, columns, depth, 3, a, b, repeated);
      check_product<double>(DType::f64, rows, columns, depth, 2, a, b, repeated);
      check_product<std::complex<float>>(DType::c64, rows, columns, depth, 2, a, b, repeated);
      check_product<std::complex<double>>(DType::c128, rows, columns, depth, 1, a, b, repeated);
    }
  }
}

TEST_CASE("products of matrices with their transposes and conjugate transposes on the CPU") {
  if (!have_openblas()) return;
  check_squares<float>(DType::f32);
  check_squares<double>(DType::f64);
  check_squares<std::complex<float>>(DType::c64);
  check_squares<std::complex<double>>(DType::c128);
}

TEST_CASE("a product with the conjugate transpose has NaN where a sum of NaN is") {
  if (!have_openblas()) return;
  using Number = std::complex<double>;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Number x[] = {{1, 2}, {infinity, 1}, {3, -1}, {1, 1}};
  Number out[4];
  const Gemm product{.dtype = DType::c128,
                     .rows = 2,
                     .columns = 2,
                     .depth = 2,
                     .a_leading = 2,
                     .b_leading = 2,
                     .a_transposed = true,
                     .a_conjugated = true};
  runtime::gemm(product, x, x, out, nullptr, runtime::Stream::current(Device{}));
  CHECK(out[0] == Number(15, 0));
  CHECK_FALSE(std::isfinite(out[3].real()));
  CHECK(std::isnan(out[3].imag()));
}

TEST_CASE("a product with a vector does not read what its result's memory held") {
  if (!have_openblas()) return;
  const std::vector<float> a(64 * 48, 1.0f), x(48, 2.0f);
  std::vector<float> out(64, std::numeric_limits<float>::quiet_NaN());
  const Gemm product{.rows = 64, .columns = 1, .depth = 48, .a_leading = 48, .b_leading = 1};
  runtime::gemm(product, a.data(), x.data(), out.data(), nullptr,
                runtime::Stream::current(Device{}));
  CHECK(out == std::vector<float>(64, 96.0f));
}

TEST_CASE("a leading distance means nothing where there is one row") {
  if (!have_openblas()) return;
  const std::vector<float> a = {1, 2, 3}, b = {4, 5, 6};
  float out = 0;
  const Gemm product{.rows = 1, .columns = 1, .depth = 3, .a_leading = 0, .b_leading = 1};
  runtime::gemm(product, a.data(), b.data(), &out, nullptr, runtime::Stream::current(Device{}));
  CHECK(out == 32);
}

TEST_CASE("OpenBLAS multiplies with the vectors that the processor has") {
  const char* const before = core_at_start;
  if (!have_openblas()) return;
  CHECK(std::getenv("OPENBLAS_CORETYPE") == before);
  const std::string host = runtime::detect_host_target().architecture;
  if (before != nullptr || (host != "x86-64-v3" && host != "x86-64-v4")) return;
  for (const runtime::BoundLibrary& library : runtime::bound_libraries()) {
    if (library.title != "OpenBLAS") continue;
    CHECK_MESSAGE(library.version.find("Prescott") == std::string::npos, library.version);
  }
}

TEST_CASE("what the libraries multiply is fixed by target and dtype") {
  CHECK(runtime::blas_supported(Device{}, DType::f32));
  CHECK(runtime::blas_supported(Device{runtime::DeviceKind::cuda, 0}, DType::bf16));
  CHECK_FALSE(runtime::blas_supported(Device{}, DType::f16));
  CHECK_FALSE(runtime::blas_supported(Device{runtime::DeviceKind::cuda, 0}, DType::i32));
  CHECK_THROWS_AS(runtime::gemm({.dtype = DType::i32, .rows = 1}, nullptr, nullptr, nullptr,
                                nullptr, runtime::Stream::current(Device{})),
                  InternalError);
  if (!have_openblas()) return;
  const std::int64_t most = std::int64_t{1} << 31;
  CHECK_THROWS_AS(
      runtime::gemm({.rows = 1, .columns = most, .depth = 1, .b_leading = most}, nullptr, nullptr,
                    nullptr, nullptr, runtime::Stream::current(Device{})),
      DeviceError);
}
