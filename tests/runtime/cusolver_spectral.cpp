// Singular values and eigenvalues by a cuSOLVER of the tests' own on the fake driver, whose kernels
// do nothing: programs of the call alone.

#include "tests/runtime/cholesky_problem.h"
#include "tests/support/complex_matrices.h"

using namespace heddle;
using namespace heddle::runtime;
using namespace heddle::test;

namespace {

constexpr Device gpu{DeviceKind::cuda, 0};

/// The step of a call as a GPU has it, without the kernels around it.
passes::CallStep planned(const std::string& text) {
  const passes::PlannedProgram program =
      passes::plan_program(ir::parse(text), {ir::parse_target("sm_90:h200"), {}, {}, {}});
  for (const passes::Step& step : program.program.steps) {
    if (step.call() != nullptr) return *step.call();
  }
  FAIL("no step is a call");
  return {};
}

/// A program of that step: its operand is the input, its results are the outputs.
std::unique_ptr<ProgramRunner> load_call(const std::string& name, const ir::Type& operand,
                                         const std::vector<ir::Type>& results,
                                         const std::string& attributes = "") {
  std::string types, values, all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    types += (i > 0 ? ", " : "") + to_string(results[i]);
    all += (i > 0 ? ", %" : "%") + std::to_string(i + 1);
  }
  passes::CallStep call = planned("func @f(%0: " + to_string(operand) + ") -> (" + types +
                                  ") {\n  " + all + " = call " + name + " %0 " + attributes +
                                  " : " + types + "\n  return " + all + "\n}\n");
  passes::Program program;
  program.name = "spectra";
  program.inputs.push_back({{operand}});
  call.operands.at(0).buffer = {Ref::Kind::input, 0};
  for (std::size_t i = 0; i < results.size(); ++i) {
    program.outputs.push_back({results[i], {}, {}});
    call.results.at(i).buffer = {Ref::Kind::output, static_cast<std::uint32_t>(i)};
  }
  program.steps.emplace_back().work = std::move(call);
  auto launcher = load_kernels({program, {}}, gpu);
  return std::make_unique<ProgramRunner>(std::move(program), std::move(launcher));
}

/// Random matrices.
template <class T>
std::vector<T> sample(std::int64_t count) {
  test::Random random(static_cast<std::uint64_t>(count));
  const auto number = [&] { return static_cast<double>(random.below(2001)) / 1000 - 1; };
  std::vector<T> made;
  for (std::int64_t k = 0; k < count; ++k) {
    if constexpr (std::is_floating_point_v<T>) {
      made.push_back(static_cast<T>(number()));
    } else {
      const double real = number(), imaginary = number();
      made.emplace_back(static_cast<typename T::value_type>(real),
                        static_cast<typename T::value_type>(imaginary));
    }
  }
  return made;
}

template <class T>
std::vector<DeviceArray> run(ProgramRunner& runner, const ir::Type& type,
                             const std::vector<T>& given) {
  Stream stream = Stream::current(gpu);
  const std::size_t bytes = given.size() * sizeof(T);
  const DeviceArray operand{type, allocate(bytes, stream), 0};
  copy(operand.buffer->pointer(), gpu, given.data(), cpu, bytes, stream);
  const std::vector<ArgumentView> arguments = {{&operand}};
  std::vector<DeviceArray> outputs;
  runner.run(arguments, stream, outputs);
  CHECK(download<T>(operand, stream) == given);
  return outputs;
}

/// Matrix number `item` of elements.
template <class T>
Matrix matrix(const std::vector<T>& elements, std::size_t item, std::size_t rows,
              std::size_t columns) {
  Matrix made{rows, columns, {}};
  for (std::size_t k = 0; k < rows * columns; ++k)
    made.elements.emplace_back(elements.at(item * rows * columns + k));
  return made;
}

template <class T>
double tolerance() {
  return 2000 * std::numeric_limits<typename Element<T>::Real>::epsilon();
}

template <class T>
std::vector<T> values_of(const DeviceArray& array) {
  return download<T>(array, Stream::current(gpu));
}

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

/// u, s and vh of [batch, m, n].
template <class T>
void check_svd(std::int64_t batch, std::int64_t m, std::int64_t n, bool full) {
  CAPTURE(name_of(Element<T>::dtype));
  CAPTURE(full);
  using Real = typename Element<T>::Real;
  const DType dtype = Element<T>::dtype, real = Element<Real>::dtype;
  const std::int64_t k = std::min(m, n);
  const ir::Type type{dtype, {batch, m, n}};
  const auto runner = load_call("linalg.svd", type,
                                {{dtype, {batch, m, full ? m : k}},
                                 {real, {batch, k}},
                                 {dtype, {batch, full ? n : k, n}},
                                 {DType::i32, {batch}}},
                                full ? "{full_matrices = true}" : "{full_matrices = false}");
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

/// The conjugate transpose of u, s and vh of a stack of small matrices.
template <class T>
void check_jacobi(std::int64_t batch, std::int64_t m, std::int64_t n) {
  CAPTURE(name_of(Element<T>::dtype));
  using Real = typename Element<T>::Real;
  const DType dtype = Element<T>::dtype, real = Element<Real>::dtype;
  const std::int64_t k = std::min(m, n);
  const ir::Type type{dtype, {batch, m, n}};
  const auto runner = load_call(
      "linalg.svd_jacobi", type,
      {{dtype, {batch, m, m}}, {real, {batch, k}}, {dtype, {batch, n, n}}, {DType::i32, {batch}}});
  const std::vector<T> given = sample<T>(batch * m * n);
  const std::vector<DeviceArray> outputs = run(*runner, type, given);
  if (m <= n) check_svdvals<T>(batch, m, n, given, outputs[1]);
  const auto extent = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  for (std::size_t i = 0; i < extent(batch); ++i) {
    const Matrix a = matrix(given, i, extent(m), extent(n));
    const Matrix u = adjoint(matrix(values_of<T>(outputs[0]), i, extent(m), extent(m)));
    const Matrix s = matrix(values_of<Real>(outputs[1]), i, 1, extent(k));
    const Matrix vh = matrix(values_of<T>(outputs[2]), i, extent(n), extent(n));
    const Matrix rebuilt =
        scaled_columns(columns(u, extent(k)), s) * adjoint(columns(adjoint(vh), extent(k)));
    CHECK(distance(rebuilt, a) < tolerance<T>());
    CHECK(values_of<std::int32_t>(outputs[3]).at(i) == 0);
  }
}

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

template <class Test>
void for_each_element(const Test& test) {
  test(float());
  test(double());
  test(std::complex<float>());
  test(std::complex<double>());
}

struct Child {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("heddle_spectral_" + std::to_string(getpid()));
  Child() { std::filesystem::create_directories(folder); }
  ~Child() { std::filesystem::remove_all(folder); }

  /// What the process asked cuSOLVER for.
  std::string calls(const std::string& test_case,
                    const std::string& library = HEDDLE_FAKE_CUSOLVER) const {
    const auto result =
        test::run_child(test_case, {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                                    "HEDDLE_CUSOLVER=" + library, "HEDDLE_CACHE=0",
                                    "HEDDLE_FAKE_CUSOLVER_LOG=" + (folder / "log").string()});
    CHECK_MESSAGE(result.status == 0, result.output);
    std::string text = test::read_text(folder / "log");
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
};

/// What the DeviceError says that a function ends with; empty without one.
template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return {};
}

/// The call of cuSOLVER fails once, and the next attempt is right.
template <class Function>
void check_failure(const char* call, const std::string& name, const Function& function) {
  CAPTURE(call);
  setenv("HEDDLE_FAKE_CUSOLVER_FAILS", call, 1);
  CHECK(error_of(function).find(name + " failed: cuSOLVER's status 7.") != std::string::npos);
  unsetenv("HEDDLE_FAKE_CUSOLVER_FAILS");
  CHECK(error_of(function) == "");
}

}  // namespace

TEST_CASE("child: singular values on a GPU" * doctest::skip()) {
  for_each_element([]<class T>(T) {
    for (const bool full : {false, true}) {
      check_svd<T>(1, 5, 5, full);
      check_svd<T>(1, 3, 6, full);
      check_svd<T>(2, 3, 40, full);
    }
    check_jacobi<T>(3, 5, 5);
    check_jacobi<T>(3, 3, 6);
    check_jacobi<T>(3, 6, 3);
  });
}

TEST_CASE("single matrices go to gesvd, stacks of small ones to gesvdjBatched") {
  const Child child;
  const std::string asked = child.calls("child: singular values on a GPU");
  std::string expected = "Create CreateParams ";
  for (const char* letter : {"S", "D", "C", "Z"}) {
    for (int full = 0; full < 2; ++full) {
      for (int matrices : {1, 1, 2}) {
        for (int with_vectors = 0; with_vectors < 2; ++with_vectors) {
          expected += "Xgesvd_bufferSize ";
          for (int k = 0; k < matrices; ++k) expected += "Xgesvd ";
        }
      }
    }
    for (int i = 0; i < 5; ++i) {  // two of them for values alone
      const std::string name = std::string(letter) + "gesvdjBatched";
      expected +=
          "CreateGesvdjInfo SetTolerance " + name + "_bufferSize " + name + " DestroyGesvdjInfo ";
    }
  }
  CHECK(asked == expected);
}

TEST_CASE("child: eigenvalues on a GPU" * doctest::skip()) {
  for_each_element([]<class T>(T) {
    for (const bool upper : {false, true}) {
      check_eigh<T>(1, 5, upper);
      check_eigh<T>(3, 5, upper);
    }
    check_eig<T>(1, 5);
    check_eig<T>(2, 6);
  });
}

TEST_CASE("stacks of Hermitian matrices go to syevBatched, others one by one") {
  const Child child;
  const std::string asked = child.calls("child: eigenvalues on a GPU");
  CHECK(
      asked.starts_with("Create CreateParams Xsyevd_bufferSize Xsyevd Xsyevd_bufferSize Xsyevd "
                        "XsyevBatched_bufferSize XsyevBatched XsyevBatched_bufferSize "
                        "XsyevBatched Xsyevd_bufferSize "));
  CHECK(asked.find("Xgeev_bufferSize Xgeev Xgeev Xgeev_bufferSize Xgeev Xgeev ") !=
        std::string::npos);
}

TEST_CASE("child: an old cuSOLVER" * doctest::skip()) {
  check_eigh<double>(3, 5, false);
  const std::string message = error_of([] { check_eig<double>(1, 5); });
  CHECK(message.find("need cuSOLVER 11.7.1 or newer") != std::string::npos);
  CHECK(message.find("pip install -U nvidia-cusolver") != std::string::npos);
}

TEST_CASE("an old cuSOLVER solves stacks one by one, and general matrices need a newer one") {
  const Child child;
  std::string expected = "Create CreateParams ";
  for (int i = 0; i < 2; ++i) expected += "Xsyevd_bufferSize Xsyevd Xsyevd Xsyevd ";
  CHECK(child.calls("child: an old cuSOLVER", HEDDLE_FAKE_OLD_CUSOLVER) == expected);
}

TEST_CASE("child: spectra on a GPU that fail" * doctest::skip()) {
  const auto svd = [] { check_svd<float>(1, 4, 5, true); };
  check_failure("Xgesvd_bufferSize", "cusolverDnXgesvd_bufferSize", svd);
  check_failure("Xgesvd", "cusolverDnXgesvd", svd);
  const auto jacobi = [] { check_jacobi<float>(2, 4, 5); };
  check_failure("CreateGesvdjInfo", "cusolverDnCreateGesvdjInfo", jacobi);
  check_failure("SetTolerance", "cusolverDnXgesvdjSetTolerance", jacobi);
  check_failure("SgesvdjBatched_bufferSize", "cusolverDnSgesvdjBatched_bufferSize", jacobi);
  check_failure("SgesvdjBatched", "cusolverDnSgesvdjBatched", jacobi);
  const auto one = [] { check_eigh<double>(1, 4, false); };
  check_failure("Xsyevd_bufferSize", "cusolverDnXsyevd_bufferSize", one);
  check_failure("Xsyevd", "cusolverDnXsyevd", one);
  const auto several = [] { check_eigh<double>(2, 4, false); };
  check_failure("XsyevBatched_bufferSize", "cusolverDnXsyevBatched_bufferSize", several);
  check_failure("XsyevBatched", "cusolverDnXsyevBatched", several);
  const auto general = [] { check_eig<double>(1, 4); };
  check_failure("Xgeev_bufferSize", "cusolverDnXgeev_bufferSize", general);
  check_failure("Xgeev", "cusolverDnXgeev", general);
}

TEST_CASE("a call of cuSOLVER for a spectrum that fails is a DeviceError, and the next one works") {
  const Child child;
  const std::string asked = child.calls("child: spectra on a GPU that fail");
  CHECK(asked.find("Create ", asked.find("Xgesvd")) == std::string::npos);
}
