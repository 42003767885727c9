// Eigenvalues by a cuSOLVER of the tests' own on the fake driver.

#include "tests/runtime/spectral_programs.h"

using namespace heddle;
using namespace heddle::runtime;
using namespace heddle::test;

namespace {

template <class T>
void check_eigh(std::int64_t batch, std::int64_t n, bool upper) {
  CAPTURE(name_of(Element<T>::dtype));
  CAPTURE(upper);
  using Real = typename Element<T>::Real;
  const DType dtype = Element<T>::dtype, real = Element<Real>::dtype;
  const ir::Type type{dtype, {batch, n, n}};
  const std::string attributes = upper ? "{upper = true}" : "{upper = false}";
  const auto runner =
      load_call("linalg.eigh", type, {{real, {batch, n}}, type, {DType::i32, {batch}}}, attributes);
  const auto alone =
      load_call("linalg.eigvalsh", type, {{real, {batch, n}}, {DType::i32, {batch}}}, attributes);
  const std::vector<T> given = sample<T>(batch * n * n);
  const std::vector<DeviceArray> outputs = run(*runner, type, given);
  const std::vector<DeviceArray> values = run(*alone, type, given);
  const auto extent = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
    Matrix a = matrix(given, i, extent, extent);
    for (std::size_t row = 0; row < extent; ++row) {
      a.elements[row * extent + row] = a(row, row).real();
      for (std::size_t column = 0; column < row; ++column) {
        if (upper)
          a.elements[row * extent + column] = std::conj(a(column, row));
        else
          a.elements[column * extent + row] = std::conj(a(row, column));
      }
    }
    const Matrix w = matrix(values_of<Real>(outputs[0]), i, 1, extent);
    const Matrix vectors = adjoint(matrix(values_of<T>(outputs[1]), i, extent, extent));
    CHECK(distance(a * vectors, scaled_columns(vectors, w)) < 10 * tolerance<T>());
    CHECK(distance(matrix(values_of<Real>(values[0]), i, 1, extent), w) < tolerance<T>());
    CHECK(values_of<std::int32_t>(outputs[2]).at(i) == 0);
  }
}

template <class T>
void check_eig(std::int64_t batch, std::int64_t n) {
  CAPTURE(name_of(Element<T>::dtype));
  using Value = std::complex<typename Element<T>::Real>;
  const DType dtype = Element<T>::dtype, value = Element<Value>::dtype;
  const ir::Type type{dtype, {batch, n, n}};
  const auto runner =
      load_call("linalg.eig", type, {{value, {batch, n}}, type, {DType::i32, {batch}}});
  const auto alone =
      load_call("linalg.eigvals", type, {{value, {batch, n}}, {DType::i32, {batch}}});
  const std::vector<T> given = sample<T>(batch * n * n);
  const std::vector<DeviceArray> outputs = run(*runner, type, given);
  const std::vector<DeviceArray> values = run(*alone, type, given);
  const auto extent = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
    const Matrix operand = matrix(given, i, extent, extent);
    const Matrix w = matrix(values_of<Value>(outputs[0]), i, 1, extent);
    const Matrix rows = matrix(values_of<T>(outputs[1]), i, extent, extent);
    Matrix vectors{extent, extent, std::vector<Complex>(extent * extent)};
    Matrix a = vectors;
    for (std::size_t j = 0; j < extent; ++j) {
      const double sign = w(0, j).imag();
      const bool packed = std::is_floating_point_v<T> && sign != 0;
      const std::size_t first = packed && sign < 0 ? j - 1 : j;
      for (std::size_t k = 0; k < extent; ++k) {
        a.elements[k * extent + j] = operand(j, k);
        const Complex rest =
            packed ? Complex(0, sign > 0 ? 1 : -1) * rows(first + 1, k) : Complex(0);
        vectors.elements[k * extent + j] = rows(first, k) + rest;
      }
    }
    CHECK(distance(a * vectors, scaled_columns(vectors, w)) < 10 * tolerance<T>());
    CHECK(distance(matrix(values_of<Value>(values[0]), i, 1, extent), w) < tolerance<T>());
    CHECK(values_of<std::int32_t>(outputs[2]).at(i) == 0);
  }
}

}  // namespace

TEST_CASE("child: eigenvalues on a GPU" * doctest::skip()) {
  for_each_element([]<class T>(T) {
    for (const bool upper : {false, true}) {
      check_eigh<T>(1, 5, upper);
      check_eigh<T>(3, 5, upper);
      check_eigh<T>(2, 33, upper);
    }
    check_eig<T>(1, 5);
    check_eig<T>(2, 6);
  });
}

TEST_CASE("stacks of Hermitian matrices go to syevjBatched or syevBatched, others one by one") {
  const Child child;
  const std::string asked = child.calls("child: eigenvalues on a GPU");
  std::string expected = "Create CreateParams ";
  for (const char* name : {"SsyevjBatched", "DsyevjBatched", "CheevjBatched", "ZheevjBatched"}) {
    for (int upper = 0; upper < 2; ++upper) {
      for (int i = 0; i < 2; ++i) expected += "Xsyevd_bufferSize Xsyevd ";
      for (int i = 0; i < 2; ++i) {
        expected += std::string("CreateSyevjInfo ") + name + "_bufferSize " + name;
        expected += " DestroySyevjInfo ";
      }
      for (int i = 0; i < 2; ++i) expected += "XsyevBatched_bufferSize XsyevBatched ";
    }
    for (int i = 0; i < 2; ++i) expected += "Xgeev_bufferSize Xgeev ";
    for (int i = 0; i < 2; ++i) expected += "Xgeev_bufferSize Xgeev Xgeev ";
  }
  CHECK(asked == expected);
}

TEST_CASE("child: an old cuSOLVER" * doctest::skip()) {
  check_eigh<double>(3, 5, false);
  check_eigh<double>(3, 33, false);
  const std::string message = error_of([] { check_eig<double>(1, 5); });
  CHECK(message.find("need cuSOLVER 11.7.1 or newer") != std::string::npos);
  CHECK(message.find("pip install -U nvidia-cusolver") != std::string::npos);
}

TEST_CASE("an old cuSOLVER solves larger matrices one by one, and for general ones is too old") {
  const Child child;
  std::string expected = "Create CreateParams ";
  for (int i = 0; i < 2; ++i)
    expected += "CreateSyevjInfo DsyevjBatched_bufferSize DsyevjBatched DestroySyevjInfo ";
  for (int i = 0; i < 2; ++i) expected += "Xsyevd_bufferSize Xsyevd Xsyevd Xsyevd ";
  CHECK(child.calls("child: an old cuSOLVER", HEDDLE_FAKE_OLD_CUSOLVER) == expected);
}

TEST_CASE("child: eigenvalues on a GPU that fail" * doctest::skip()) {
  const auto one = [] { check_eigh<double>(1, 4, false); };
  check_failure("Xsyevd_bufferSize", "cusolverDnXsyevd_bufferSize", one);
  check_failure("Xsyevd", "cusolverDnXsyevd", one);
  const auto several = [] { check_eigh<double>(2, 33, false); };
  check_failure("XsyevBatched_bufferSize", "cusolverDnXsyevBatched_bufferSize", several);
  check_failure("XsyevBatched", "cusolverDnXsyevBatched", several);
  const auto small = [] { check_eigh<float>(2, 4, false); };
  check_failure("CreateSyevjInfo", "cusolverDnCreateSyevjInfo", small);
  check_failure("SsyevjBatched_bufferSize", "cusolverDnSsyevjBatched_bufferSize", small);
  check_failure("SsyevjBatched", "cusolverDnSsyevjBatched", small);
  const auto general = [] { check_eig<double>(1, 4); };
  check_failure("Xgeev_bufferSize", "cusolverDnXgeev_bufferSize", general);
  check_failure("Xgeev", "cusolverDnXgeev", general);
}

TEST_CASE(
    "a call of cuSOLVER for eigenvalues that fails is a DeviceError, and the next one works") {
  const Child child;
  const std::string asked = child.calls("child: eigenvalues on a GPU that fail");
  CHECK(asked.find("Create ", asked.find("Xsyevd")) == std::string::npos);
}
