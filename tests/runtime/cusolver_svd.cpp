// Singular values by a cuSOLVER of the tests' own on the fake driver.

#include "tests/runtime/spectral_programs.h"

using namespace heddle;
using namespace heddle::runtime;
using namespace heddle::test;

namespace {

/// The singular values alone, of [batch, m, n] with m <= n, are those beside the vectors.
template <class T>
void check_svdvals(std::int64_t batch, std::int64_t m, std::int64_t n, const std::vector<T>& given,
                   const DeviceArray& expected) {
  using Real = typename Element<T>::Real;
  const ir::Type type{Element<T>::dtype, {batch, m, n}};
  const auto runner = load_call("linalg.svdvals", type,
                                {{Element<Real>::dtype, {batch, m}}, {DType::i32, {batch}}});
  const std::vector<DeviceArray> outputs = run(*runner, type, given);
  const std::vector<Real> alone = values_of<Real>(outputs[0]), beside = values_of<Real>(expected);
  REQUIRE(alone.size() == beside.size());
  for (std::size_t i = 0; i < alone.size(); ++i)
    CHECK(std::abs(alone[i] - beside[i]) < tolerance<T>());
  CHECK(values_of<std::int32_t>(outputs[1]) ==
        std::vector<std::int32_t>(static_cast<std::size_t>(batch)));
}

std::string full_matrices(bool full) {
  return full ? "{full_matrices = true}" : "{full_matrices = false}";
}

/// u, s and vh of [batch, m, n] with m <= n by the QR method, which programs have for matrices that
/// are too large to test: of its steps the others are alike.
template <class T>
void check_svd(std::int64_t batch, std::int64_t m, std::int64_t n, bool full) {
  CAPTURE(name_of(Element<T>::dtype));
  CAPTURE(full);
  using Real = typename Element<T>::Real;
  const DType dtype = Element<T>::dtype, real = Element<Real>::dtype;
  const std::int64_t k = std::min(m, n);
  const ir::Type type{dtype, {batch, m, n}};
  const auto runner = load_call("linalg.svd_jacobi", type,
                                {{dtype, {batch, m, full ? m : k}},
                                 {real, {batch, k}},
                                 {dtype, {batch, full ? n : k, n}},
                                 {DType::i32, {batch}}},
                                full_matrices(full), "linalg.svd");
  const std::vector<T> given = sample<T>(batch * m * n);
  const std::vector<DeviceArray> outputs = run(*runner, type, given);
  check_svdvals<T>(batch, m, n, given, outputs[1]);
  const auto extent = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  for (std::size_t i = 0; i < extent(batch); ++i) {
    const Matrix a = matrix(given, i, extent(m), extent(n));
    const Matrix u = matrix(values_of<T>(outputs[0]), i, extent(m), extent(full ? m : k));
    const Matrix s = matrix(values_of<Real>(outputs[1]), i, 1, extent(k));
    const Matrix vh = matrix(values_of<T>(outputs[2]), i, extent(full ? n : k), extent(n));
    const Matrix rebuilt =
        scaled_columns(columns(u, extent(k)), s) * adjoint(columns(adjoint(vh), extent(k)));
    CHECK(distance(rebuilt, a) < tolerance<T>());
    CHECK(distance(adjoint(u) * u, identity(u.columns)) < tolerance<T>());
    CHECK(distance(vh * adjoint(vh), identity(vh.rows)) < tolerance<T>());
    CHECK(values_of<std::int32_t>(outputs[3]).at(i) == 0);
  }
}

/// The conjugate transpose of u, s and vh by Jacobi's method.
template <class T>
void check_jacobi(std::int64_t batch, std::int64_t m, std::int64_t n, bool full) {
  CAPTURE(name_of(Element<T>::dtype));
  CAPTURE(full);
  using Real = typename Element<T>::Real;
  const DType dtype = Element<T>::dtype, real = Element<Real>::dtype;
  const std::int64_t k = std::min(m, n);
  const ir::Type type{dtype, {batch, m, n}};
  const auto runner = load_call("linalg.svd_jacobi", type,
                                {{dtype, {batch, full ? m : k, m}},
                                 {real, {batch, k}},
                                 {dtype, {batch, full ? n : k, n}},
                                 {DType::i32, {batch}}},
                                full_matrices(full));
  const std::vector<T> given = sample<T>(batch * m * n);
  const std::vector<DeviceArray> outputs = run(*runner, type, given);
  if (m <= n) check_svdvals<T>(batch, m, n, given, outputs[1]);
  const auto extent = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  for (std::size_t i = 0; i < extent(batch); ++i) {
    const Matrix a = matrix(given, i, extent(m), extent(n));
    const Matrix u = adjoint(matrix(values_of<T>(outputs[0]), i, extent(full ? m : k), extent(m)));
    const Matrix s = matrix(values_of<Real>(outputs[1]), i, 1, extent(k));
    const Matrix vh = matrix(values_of<T>(outputs[2]), i, extent(full ? n : k), extent(n));
    const Matrix rebuilt =
        scaled_columns(columns(u, extent(k)), s) * adjoint(columns(adjoint(vh), extent(k)));
    CHECK(distance(rebuilt, a) < tolerance<T>());
    CHECK(distance(adjoint(u) * u, identity(u.columns)) < tolerance<T>());
    CHECK(distance(vh * adjoint(vh), identity(vh.rows)) < tolerance<T>());
    CHECK(values_of<std::int32_t>(outputs[3]).at(i) == 0);
  }
}

}  // namespace

TEST_CASE("child: singular values on a GPU" * doctest::skip()) {
  for_each_element([]<class T>(T) {
    for (const bool full : {false, true}) {
      check_svd<T>(1, 5, 5, full);
      check_svd<T>(1, 3, 6, full);
      check_svd<T>(2, 3, 40, full);
    }
    check_jacobi<T>(3, 5, 5, true);
    check_jacobi<T>(3, 3, 6, true);
    check_jacobi<T>(3, 6, 3, true);
    for (const bool full : {false, true}) {
      check_jacobi<T>(1, 5, 5, full);
      check_jacobi<T>(1, 3, 6, full);
      check_jacobi<T>(1, 6, 3, full);
      check_jacobi<T>(2, 33, 2, full);
    }
  });
}

TEST_CASE("matrices go to the method of their step, stacks of small ones to gesvdjBatched") {
  const Child child;
  const std::string asked = child.calls("child: singular values on a GPU");
  std::string expected = "Create CreateParams ";
  const auto qr = [&](int matrices) {
    expected += "Xgesvd_bufferSize ";
    for (int k = 0; k < matrices; ++k) expected += "Xgesvd ";
  };
  const auto jacobi = [&](const std::string& name, int calls) {
    expected += "CreateGesvdjInfo SetTolerance " + name + "_bufferSize ";
    for (int k = 0; k < calls; ++k) expected += name + " ";
    expected += "DestroyGesvdjInfo ";
  };
  for (const std::string letter : {"S", "D", "C", "Z"}) {
    for (int full = 0; full < 2; ++full) {
      for (const int matrices : {1, 1, 2}) qr(matrices), qr(matrices);  // then for values alone
    }
    for (int i = 0; i < 5; ++i) jacobi(letter + "gesvdjBatched", 1);  // two for values alone
    for (int full = 0; full < 2; ++full) {
      for (const bool values_alone : {true, true, false}) {
        jacobi(letter + "gesvdj", 1);
        if (values_alone) qr(1);
      }
      jacobi(letter + "gesvdj", 2);
    }
  }
  CHECK(asked == expected);
}

TEST_CASE("child: values of a larger matrix on a GPU" * doctest::skip()) {
  constexpr std::size_t n = 256;
  const ir::Type type{DType::f32, {1, n, n}};
  const auto runner = load_call("linalg.svdvals", type, {{DType::f32, {1, n}}, {DType::i32, {1}}});
  std::vector<float> diagonal(n * n), expected;
  for (std::size_t i = 0; i < n; ++i) {
    diagonal[i * n + (i + 7) % n] = static_cast<float>(i + 1);
    expected.push_back(static_cast<float>(n - i));
  }
  const std::vector<DeviceArray> outputs = run(*runner, type, diagonal);
  CHECK(values_of<float>(outputs[0]) == expected);
  CHECK(values_of<std::int32_t>(outputs[1]) == std::vector<std::int32_t>(1));
}

TEST_CASE("the values of matrices of 256 to 1024 rows are found by Jacobi's method") {
  CHECK(Child().calls("child: values of a larger matrix on a GPU") ==
        "Create CreateParams CreateGesvdjInfo SetTolerance Sgesvdj_bufferSize Sgesvdj "
        "DestroyGesvdjInfo ");
}

TEST_CASE("child: matrices without elements on a GPU" * doctest::skip()) {
  const ir::Type type{DType::f32, {2, 0, 3}};
  const auto runner = load_call(
      "linalg.svd_jacobi", type,
      {{DType::f32, {2, 0, 0}}, {DType::f32, {2, 0}}, {DType::f32, {2, 3, 3}}, {DType::i32, {2}}});
  const std::vector<DeviceArray> outputs = run(*runner, type, std::vector<float>());
  const std::vector<float> one = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::vector<float> both = one;
  both.insert(both.end(), one.begin(), one.end());
  CHECK(values_of<float>(outputs[2]) == both);
  CHECK(values_of<std::int32_t>(outputs[3]) == std::vector<std::int32_t>(2));
}

TEST_CASE("the square factors of matrices without elements are identities on a GPU") {
  CHECK(Child().calls("child: matrices without elements on a GPU").empty());
}

TEST_CASE("child: singular values on a GPU that fail" * doctest::skip()) {
  const auto svd = [] { check_svd<float>(1, 4, 5, true); };
  check_failure("Xgesvd_bufferSize", "cusolverDnXgesvd_bufferSize", svd);
  check_failure("Xgesvd", "cusolverDnXgesvd", svd);
  const auto jacobi = [] { check_jacobi<float>(2, 4, 5, true); };
  check_failure("CreateGesvdjInfo", "cusolverDnCreateGesvdjInfo", jacobi);
  check_failure("SetTolerance", "cusolverDnXgesvdjSetTolerance", jacobi);
  check_failure("SgesvdjBatched_bufferSize", "cusolverDnSgesvdjBatched_bufferSize", jacobi);
  check_failure("SgesvdjBatched", "cusolverDnSgesvdjBatched", jacobi);
  const auto single = [] { check_jacobi<double>(1, 4, 5, false); };
  check_failure("Dgesvdj_bufferSize", "cusolverDnDgesvdj_bufferSize", single);
  check_failure("Dgesvdj", "cusolverDnDgesvdj", single);
}

TEST_CASE(
    "a call of cuSOLVER for singular values that fails is a DeviceError, the next one works") {
  const Child child;
  const std::string asked = child.calls("child: singular values on a GPU that fail");
  CHECK(asked.find("Create ", asked.find("Xgesvd")) == std::string::npos);
}
