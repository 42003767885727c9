// Calls on LU, QR and triangular matrices: by LAPACK, and by libraries of the tests' own on the
// fake driver.

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <fmt/ranges.h>

#include "heddle/error.h"

#include "tests/runtime/matrix_call_runner.h"

using namespace heddle;
using namespace heddle::runtime;
using namespace heddle::test;

namespace {

constexpr Device cpu{}, gpu{DeviceKind::cuda, 0};

std::string type_of(DType dtype, std::initializer_list<std::int64_t> extents) {
  return fmt::format("{}[{}]", name_of(dtype), fmt::join(extents, ","));
}

/// An element of a stack in C order.
template <class T>
WideOf<T> at(const std::vector<T>& stack, std::int64_t rows, std::int64_t columns,
             std::int64_t item, std::int64_t row, std::int64_t column) {
  return WideOf<T>(stack[static_cast<std::size_t>((item * rows + row) * columns + column)]);
}

/// The largest |a x - b|, where operand `a` is transposed or not, x and b are transposed.
template <class T>
double residual(const std::vector<T>& a, bool transposed, const std::vector<T>& x,
                const std::vector<T>& b, std::int64_t n, std::int64_t sides, std::int64_t item) {
  double worst = 0;
  for (std::int64_t s = 0; s < sides; ++s) {
    for (std::int64_t i = 0; i < n; ++i) {
      WideOf<T> sum = -at(b, sides, n, item, s, i);
      for (std::int64_t j = 0; j < n; ++j) {
        sum += (transposed ? at(a, n, n, item, j, i) : at(a, n, n, item, i, j)) *
               at(x, sides, n, item, s, j);
      }
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

template <class T>
void check_solve(Device device, std::int64_t batch, std::int64_t n, std::int64_t sides,
                 bool transposed) {
  constexpr DType dtype = dtype_of_element<T>;
  CAPTURE(name_of(dtype));
  CAPTURE(n);
  CAPTURE(batch);
  const std::string a_type = type_of(dtype, {batch, n, n});
  const std::string b_type = type_of(dtype, {batch, sides, n});
  const passes::CallStep step = planned_step(
      {a_type, b_type}, fmt::format("linalg.solve %0, %1 {{transposed = {}}}", transposed),
      {b_type, a_type, type_of(DType::i32, {batch, n}), type_of(DType::i32, {batch})}, device);
  std::vector<T> a = random_elements<T>(batch * n * n, 1);
  for (std::int64_t i = 0; i < batch * n * n; ++i) {
    if (i / n % n == i % n) a[static_cast<std::size_t>(i)] += T(3);
    // A row and a column of zeros in the second matrix.
    const bool second = batch > 1 && i / (n * n) == 1;
    if (second && (i % n == n - 1 || i / n % n == n - 1)) a[static_cast<std::size_t>(i)] = T(0);
  }
  const std::vector<T> b = random_elements<T>(batch * sides * n, 2);
  const Stream stream = Stream::current(device);
  CallMemory memory(stream);
  memory.add(a);
  memory.add(b);
  memory.add(b);
  memory.add(a);
  memory.add(std::vector<std::int32_t>(static_cast<std::size_t>(batch * n), -7));
  memory.add(std::vector<std::int32_t>(static_cast<std::size_t>(batch), -7));
  run_step(step, memory);
  CHECK(memory.read<T>(0, batch * n * n) == a);
  CHECK(memory.read<T>(1, batch * sides * n) == b);
  const std::vector<T> x = memory.read<T>(2, batch * sides * n);
  const auto statuses = memory.read<std::int32_t>(5, batch);
  for (std::int64_t item = 0; item < batch; ++item) {
    const bool singular = batch > 1 && item == 1;
    CHECK(statuses[static_cast<std::size_t>(item)] == (singular ? n : 0));
    if (!singular) CHECK(residual(a, transposed, x, b, n, sides, item) < tolerance<T>());
  }
}

template <class T>
void check_lu(Device device, std::int64_t batch, std::int64_t m, std::int64_t n) {
  constexpr DType dtype = dtype_of_element<T>;
  CAPTURE(name_of(dtype));
  CAPTURE(m);
  CAPTURE(n);
  const std::int64_t k = std::min(m, n);
  const std::string type = type_of(dtype, {batch, n, m});
  const passes::CallStep step =
      planned_step({type}, "linalg.lu %0",
                   {type, type_of(DType::i32, {batch, k}), type_of(DType::i32, {batch})}, device);
  const std::vector<T> a = random_elements<T>(batch * m * n, 3);
  const Stream stream = Stream::current(device);
  CallMemory memory(stream);
  memory.add(a);
  memory.add(std::vector<T>(a.size()));
  memory.add(std::vector<std::int32_t>(static_cast<std::size_t>(batch * k), -7));
  memory.add(std::vector<std::int32_t>(static_cast<std::size_t>(batch), -7));
  run_step(step, memory);
  const std::vector<T> lu = memory.read<T>(1, batch * m * n);
  const auto pivots = memory.read<std::int32_t>(2, batch * k);
  CHECK(memory.read<std::int32_t>(3, batch) ==
        std::vector<std::int32_t>(static_cast<std::size_t>(batch), 0));
  for (std::int64_t item = 0; item < batch; ++item) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(m));
    for (std::int64_t i = 0; i < m; ++i) order[static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = 0; i < k; ++i) {
      const auto pivot = static_cast<std::size_t>(pivots[static_cast<std::size_t>(item * k + i)]);
      REQUIRE((pivot >= 1 && pivot <= order.size()));
      std::swap(order[static_cast<std::size_t>(i)], order[pivot - 1]);
    }
    double worst = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        WideOf<T> sum = -at(a, n, m, item, j, order[static_cast<std::size_t>(i)]);
        for (std::int64_t l = 0; l < std::min({i + 1, j + 1, k}); ++l) {
          sum += (l == i ? WideOf<T>(1) : at(lu, n, m, item, l, i)) * at(lu, n, m, item, j, l);
        }
        worst = std::max(worst, std::abs(sum));
      }
    }
    CHECK(worst < tolerance<T>());
  }
}

template <class T>
void check_qr(Device device, std::int64_t batch, std::int64_t m, std::int64_t n) {
  constexpr DType dtype = dtype_of_element<T>;
  CAPTURE(name_of(dtype));
  CAPTURE(m);
  CAPTURE(n);
  const std::int64_t k = std::min(m, n);
  const std::string type = type_of(dtype, {batch, n, m}), tau_type = type_of(dtype, {batch, k});
  const std::vector<T> a = random_elements<T>(batch * m * n, 4);
  const Stream stream = Stream::current(device);
  CallMemory memory(stream);
  memory.add(a);
  memory.add(std::vector<T>(a.size()));
  memory.add(std::vector<T>(static_cast<std::size_t>(batch * k)));
  run_step(planned_step({type}, "linalg.geqrf %0", {type, tau_type}, device), memory);
  const std::vector<T> h = memory.read<T>(1, batch * m * n);
  const std::vector<T> tau = memory.read<T>(2, batch * k);
  // The first k rows of each item.
  std::vector<T> reflectors;
  for (std::int64_t item = 0; item < batch; ++item) {
    const auto start = h.begin() + item * n * m;
    reflectors.insert(reflectors.end(), start, start + k * m);
  }
  // The step of one matrix, for all: programs for a GPU have other ops for small stacks.
  const std::string q_type = type_of(dtype, {1, k, m}), factor_type = type_of(dtype, {1, k});
  passes::CallStep product_step =
      planned_step({q_type, factor_type}, "linalg.householder_product %0, %1", {q_type}, device);
  product_step.values.set("batch", ir::Dim(batch));
  CallMemory product(stream);
  product.add(reflectors);
  product.add(tau);
  product.add(std::vector<T>(reflectors.size()));
  run_step(product_step, product);
  const std::vector<T> q = product.read<T>(2, batch * k * m);
  double worst = 0;
  for (std::int64_t item = 0; item < batch; ++item) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        WideOf<T> sum = -at(a, n, m, item, j, i);
        for (std::int64_t l = 0; l < std::min(k, j + 1); ++l)
          sum += at(q, k, m, item, l, i) * at(h, n, m, item, j, l);
        worst = std::max(worst, std::abs(sum));
      }
    }
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t j = 0; j < k; ++j) {
        WideOf<T> sum(i == j ? -1 : 0);
        for (std::int64_t l = 0; l < m; ++l)
          sum += conjugate_of(at(q, k, m, item, i, l)) * at(q, k, m, item, j, l);
        worst = std::max(worst, std::abs(sum));
      }
    }
  }
  CHECK(worst < tolerance<T>());
}

template <class T>
void check_triangular(Device device, std::int64_t batch, std::int64_t n, std::int64_t sides,
                      bool lower, bool unit, const std::string& transpose) {
  constexpr DType dtype = dtype_of_element<T>;
  CAPTURE(name_of(dtype));
  CAPTURE(lower);
  CAPTURE(unit);
  CAPTURE(transpose);
  const std::string a_type = type_of(dtype, {batch, n, n});
  const std::string b_type = type_of(dtype, {batch, n, sides});
  std::vector<T> a = random_elements<T>(batch * n * n, 5);
  for (std::int64_t i = 0; i < batch * n * n; ++i) {
    if (i / n % n == i % n) a[static_cast<std::size_t>(i)] += T(3);
  }
  const std::vector<T> b = random_elements<T>(batch * n * sides, 6);
  const Stream stream = Stream::current(device);
  CallMemory memory(stream);
  memory.add(a);
  memory.add(b);
  memory.add(std::vector<T>(b.size()));
  run_step(planned_step({a_type, b_type},
                        fmt::format("linalg.solve_triangular %0, %1 {{lower = {}, transpose = "
                                    "\"{}\", unit = {}}}",
                                    lower, transpose, unit),
                        {b_type}, device),
           memory);
  const std::vector<T> x = memory.read<T>(2, batch * n * sides);
  double worst = 0;
  for (std::int64_t k = 0; k < batch * n * sides; ++k) {
    const std::int64_t item = k / (n * sides), row = k / sides % n, side = k % sides;
    WideOf<T> sum = -WideOf<T>(b[static_cast<std::size_t>(k)]);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t r = transpose == "none" ? row : j, c = transpose == "none" ? j : row;
      if (lower ? r < c : r > c) continue;
      WideOf<T> element = r == c && unit ? WideOf<T>(1) : at(a, n, n, item, r, c);
      if (transpose == "conjugate") element = conjugate_of(element);
      sum += element * at(x, n, sides, item, j, side);
    }
    worst = std::max(worst, std::abs(sum));
  }
  // Without 3 on the diagonal the solutions grow.
  CHECK(worst < (unit ? 100 : 1) * tolerance<T>());
}

void check_permutation(Device device) {
  const std::string type = type_of(DType::i32, {2, 4});
  const Stream stream = Stream::current(device);
  CallMemory memory(stream);
  memory.add(std::vector<std::int32_t>{3, 4, 3, 4, 1, 2, 3, 4});
  memory.add(std::vector<std::int32_t>(8, -7));
  run_step(planned_step({type}, "linalg.permutation_of_pivots %0", {type}, device), memory);
  CHECK(memory.read<std::int32_t>(1, 8) == std::vector<std::int32_t>{2, 3, 0, 1, 0, 1, 2, 3});
}

void check_everything(Device device) {
  for_each_element([&]<class T>(T) {
    for (const bool transposed : {false, true}) {
      check_solve<T>(device, 4, 35, 3, transposed);
      check_solve<T>(device, 1, 37, 1, transposed);
      check_solve<T>(device, 2, 34, 0, transposed);
    }
    check_lu<T>(device, 3, 35, 35);
    check_lu<T>(device, 2, 37, 34);
    check_lu<T>(device, 1, 34, 36);
    check_qr<T>(device, 3, 35, 35);
    check_qr<T>(device, 2, 37, 34);
    check_qr<T>(device, 1, 34, 36);
    for (const std::int64_t batch : {1, 3}) {
      for (const char* transpose : {"none", "transpose", "conjugate"}) {
        for (const bool lower : {false, true}) {
          check_triangular<T>(device, batch, 5, 2, lower, false, transpose);
          check_triangular<T>(device, batch, 5, 2, lower, true, transpose);
        }
      }
    }
  });
  check_permutation(device);
}

}  // namespace

TEST_CASE("LAPACK solves, and factorises by LU and QR, stacks of all sizes") {
  check_everything(cpu);
  check_solve<double>(cpu, 1, 130, 3, false);
  check_lu<float>(cpu, 50, 33, 33);
  check_qr<double>(cpu, 50, 34, 33);
}

TEST_CASE("child: matrices on a GPU" * doctest::skip()) { check_everything(gpu); }

namespace {

/// The process on the fake driver; what it asked the libraries for.
std::string calls_of(const char* child) {
  const std::filesystem::path log =
      std::filesystem::temp_directory_path() / fmt::format("heddle_matrices_{}", getpid());
  const auto result =
      test::run_child(child, {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                              std::string("HEDDLE_CUSOLVER=") + HEDDLE_FAKE_CUSOLVER,
                              std::string("HEDDLE_CUBLAS=") + HEDDLE_FAKE_CUBLAS, "HEDDLE_CACHE=0",
                              "HEDDLE_FAKE_CUSOLVER_LOG=" + log.string()});
  CHECK_MESSAGE(result.status == 0, result.output);
  std::string text = test::read_text(log);
  std::filesystem::remove(log);
  return text;
}

}  // namespace

TEST_CASE("a GPU solves and factorises stacks, small ones in one call of cuBLAS") {
  const std::string calls = calls_of("child: matrices on a GPU");
  for (const char* name : {"SgetrfBatched", "ZgetrsBatched", "CgeqrfBatched", "DtrsmBatched",
                           "Dtrsm", "Xgetrf", "Xgetrs", "Xgeqrf", "Zungqr", "Sorgqr"})
    CHECK_MESSAGE(calls.find(std::string(name) + "\n") != std::string::npos, name);
}

namespace {

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return {};
}

/// A call of a library fails once, and the next run is right.
template <class Call>
void check_failure(const char* variable, const char* name, const char* shown, const Call& call) {
  CAPTURE(name);
  setenv(variable, name, 1);
  CHECK(error_of(call).find(std::string(shown) + " failed: ") != std::string::npos);
  unsetenv(variable);
  CHECK(error_of(call).empty());
}

}  // namespace

TEST_CASE("child: matrices on a GPU whose libraries fail" * doctest::skip()) {
  const char* const solver = "HEDDLE_FAKE_CUSOLVER_FAILS";
  const char* const blas = "HEDDLE_FAKE_CUBLAS_FAILS";
  const auto one = [] { check_solve<double>(gpu, 1, 34, 2, false); };
  check_failure(solver, "Xgetrf_bufferSize", "cusolverDnXgetrf_bufferSize", one);
  check_failure(solver, "Xgetrf", "cusolverDnXgetrf", one);
  check_failure(solver, "Xgetrs", "cusolverDnXgetrs", one);
  const auto many = [] { check_solve<double>(gpu, 3, 34, 2, true); };
  check_failure(blas, "DgetrfBatched", "cublas<t>getrfBatched", many);
  check_failure(blas, "DgetrsBatched", "cublas<t>getrsBatched", many);
  const auto qr = [] { check_qr<float>(gpu, 1, 35, 33); };
  check_failure(solver, "Xgeqrf_bufferSize", "cusolverDnXgeqrf_bufferSize", qr);
  check_failure(solver, "Xgeqrf", "cusolverDnXgeqrf", qr);
  check_failure(solver, "Sorgqr_bufferSize", "cusolverDn<t>orgqr_bufferSize", qr);
  check_failure(solver, "Sorgqr", "cusolverDn<t>orgqr", qr);
  check_failure(blas, "SgeqrfBatched", "cublas<t>geqrfBatched",
                [] { check_qr<float>(gpu, 2, 35, 33); });
  check_failure(blas, "Dtrsm", "cublas<t>trsm",
                [] { check_triangular<double>(gpu, 1, 4, 2, true, false, "none"); });
  check_failure(blas, "DtrsmBatched", "cublas<t>trsmBatched",
                [] { check_triangular<double>(gpu, 2, 4, 2, true, false, "none"); });
}

TEST_CASE("a call of cuSOLVER or cuBLAS that fails is a DeviceError, and the next one works") {
  calls_of("child: matrices on a GPU whose libraries fail");
}
