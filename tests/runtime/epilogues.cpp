#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/cache/store.h"
#include "runtime/cuda/devices.h"
#include "runtime/device/memory.h"
#include "runtime/libraries/blas.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime;

// Products with epilogues: against a cuBLASLt that computes by the manual, on the fake driver, and
// on a GPU where there is one.

namespace {

const Device gpu{DeviceKind::cuda, 0};

BufferRef upload(const std::vector<float>& values, const Stream& stream) {
  BufferRef buffer = allocate(values.size() * sizeof(float), stream);
  copy(buffer->pointer(), gpu, values.data(), Device{}, values.size() * sizeof(float), stream);
  return buffer;
}

std::vector<float> download(const BufferRef& buffer, std::size_t count, const Stream& stream) {
  std::vector<float> values(count);
  copy(values.data(), Device{}, buffer->pointer(), gpu, count * sizeof(float), stream);
  stream.synchronize();
  return values;
}

std::vector<float> whole_numbers(std::size_t count, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.next() % 9) - 4;
  return values;
}

/// Batched, with either operand transposed, a bias and a residual: small whole numbers, which every
/// precision multiplies exactly.
struct Problem {
  std::int64_t batch = 1, rows = 5, depth = 3, columns = 4;
  bool a_transposed = false, b_transposed = false, one_b = false;
  bool has_bias = true, has_residual = true, in_place = false;
  double alpha = 2, beta = -3;
  Precision precision = Precision::ieee;

  Gemm gemm() const {
    Gemm product;
    product.precision = precision;
    product.rows = rows, product.columns = columns, product.depth = depth, product.batch = batch;
    product.a_transposed = a_transposed, product.b_transposed = b_transposed;
    product.a_leading = a_transposed ? rows : depth;
    product.b_leading = b_transposed ? depth : columns;
    product.a_batch_stride = rows * depth;
    product.b_batch_stride = one_b ? 0 : depth * columns;
    product.out_batch_stride = rows * columns;
    return product;
  }
  std::vector<float> a() const { return whole_numbers(batch * rows * depth, 1); }
  std::vector<float> b() const { return whole_numbers((one_b ? 1 : batch) * depth * columns, 2); }
  std::vector<float> residual() const { return whole_numbers(batch * rows * columns, 3); }
  std::vector<float> bias() const { return whole_numbers(columns, 4); }

  std::vector<float> expected() const {
    const std::vector<float> left = a(), right = b(), added = residual(), row = bias();
    std::vector<float> result;
    for (std::int64_t i = 0; i < batch; ++i) {
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          double sum = 0;
          for (std::int64_t k = 0; k < depth; ++k) {
            const std::int64_t x = i * rows * depth + (a_transposed ? k * rows + r : r * depth + k);
            const std::int64_t y = (one_b ? 0 : i * depth * columns) +
                                   (b_transposed ? c * depth + k : k * columns + c);
            sum += static_cast<double>(left[x]) * right[y];
          }
          sum *= alpha;
          if (has_residual) sum += beta * added[result.size()];
          if (has_bias) sum += row[c];
          result.push_back(static_cast<float>(sum));
        }
      }
    }
    return result;
  }

  /// What the library gives; empty where it refuses.
  std::vector<float> run(passes::Activation activation = passes::Activation::none) const {
    const Stream stream = Stream::current(gpu);
    const BufferRef left = upload(a(), stream), right = upload(b(), stream);
    const BufferRef added = upload(residual(), stream), row = upload(bias(), stream);
    const std::size_t count = residual().size();
    const BufferRef out = in_place ? added : allocate(count * sizeof(float), stream);
    const BufferRef workspace = allocate(blas_workspace_bytes(gpu), stream);
    stream.synchronize();
    GemmEpilogue epilogue{.alpha = alpha, .beta = beta, .activation = activation};
    if (has_residual) epilogue.residual = added->pointer();
    if (has_bias) epilogue.bias = row->pointer();
    const bool done = gemm_with_epilogue(gemm(), epilogue, left->pointer(), right->pointer(),
                                         out->pointer(), workspace->pointer(), stream);
    return done ? download(out, count, stream) : std::vector<float>();
  }
};

std::vector<Problem> problems() {
  std::vector<Problem> all = {
      {},
      {.rows = 4, .depth = 4},
      {.rows = 4, .depth = 4, .has_residual = false, .alpha = 1},
      {.a_transposed = true},
      {.b_transposed = true},
      {.a_transposed = true, .b_transposed = true},
      {.batch = 3},
      {.batch = 3, .a_transposed = true, .b_transposed = true},
      {.batch = 3, .one_b = true},
      {.has_bias = false},
      {.has_residual = false},
      {.in_place = true},
      {.batch = 2, .in_place = true, .alpha = -1, .beta = 1},
      {.rows = 1, .columns = 1},
      {.rows = 1, .depth = 1},
      {.rows = 64, .depth = 128, .columns = 96, .precision = Precision::tf32},
      {.rows = 64, .depth = 128, .columns = 96, .precision = Precision::bf16},
  };
  return all;
}

/// What a library refuses is no error; what every one has to do is a sum with a row and an array.
enum class Refusals : std::uint8_t { none, some };

void check_products(Refusals allowed) {
  const auto is_refused = [&](const std::vector<float>& got, const char* what) {
    if (!got.empty() || allowed == Refusals::none) return false;
    MESSAGE("the library refuses " << what);
    return true;
  };
  CHECK(Problem{}.run() == Problem{}.expected());
  for (const Problem& problem : problems()) {
    CAPTURE(problem.batch);
    CAPTURE(problem.rows);
    CAPTURE(problem.columns);
    CAPTURE(problem.a_transposed);
    CAPTURE(problem.b_transposed);
    const std::vector<float> got = problem.run();
    if (!is_refused(got, "a problem")) CHECK(got == problem.expected());
  }
  const Problem plain;
  std::vector<float> relu = plain.expected();
  for (float& value : relu) value = std::max(value, 0.0f);
  const std::vector<float> got_relu = plain.run(passes::Activation::relu);
  if (!is_refused(got_relu, "relu")) CHECK(got_relu == relu);
  const std::vector<float> gelu = plain.expected(), got = plain.run(passes::Activation::gelu);
  if (is_refused(got, "gelu")) return;
  REQUIRE(got.size() == gelu.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = gelu[i];
    const double exact = 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    CHECK(std::abs(got[i] - exact) <= 1e-3 * std::max(1.0, std::abs(x)));
  }
}

/// A folder for one test's cache and log.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("heddle_epilogues_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }

  /// What a process asks the library for that multiplies two problems, one of them twice.
  std::string calls(std::vector<std::string> variables = {}) const {
    std::filesystem::remove(path / "log");
    for (const std::string& one :
         {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
          std::string("HEDDLE_CUBLASLT=") + HEDDLE_FAKE_CUBLASLT,
          "HEDDLE_CACHE_DIR=" + (path / "cache").string(),
          "HEDDLE_FAKE_CUBLASLT_LOG=" + (path / "log").string(), std::string("-uHEDDLE_DEVICE")})
      variables.insert(variables.begin(), one);
    // Options of env(1) come before assignments.
    std::ranges::sort(variables, std::ranges::greater(),
                      [](const std::string& one) { return one.starts_with("-u"); });
    const auto result = test::run_child("child: two products and one of them again", variables);
    CHECK_MESSAGE(result.status == 0, result.output);
    std::string text = test::read_text(path / "log");
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
};

}  // namespace

TEST_CASE("child: products with epilogues" * doctest::skip()) { check_products(Refusals::none); }

TEST_CASE("products with epilogues by a library that counts columns first") {
  const Folder folder;
  const auto result =
      test::run_child("child: products with epilogues",
                      {std::string("HEDDLE_CUDA_DRIVER=") + HEDDLE_FAKE_DRIVER,
                       std::string("HEDDLE_CUBLASLT=") + HEDDLE_FAKE_CUBLASLT,
                       "HEDDLE_CACHE_DIR=" + (folder.path / "cache").string(),
                       "HEDDLE_FAKE_CUBLASLT_LOG=" + (folder.path / "log").string()});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("products with epilogues on a GPU") {
  if (!cuda::available()) {
    MESSAGE("no GPU here: " << cuda::unavailable_reason());
    return;
  }
  REQUIRE_MESSAGE(epilogues_unavailable_reason(gpu).empty(), epilogues_unavailable_reason(gpu));
  check_products(Refusals::some);
}

TEST_CASE("what a GPU's library makes of NaN and of gelu") {
  if (!cuda::available() || !epilogues_unavailable_reason(gpu).empty()) return;
  const Stream stream = Stream::current(gpu);
  constexpr std::int64_t n = 256;
  // Each row is x times the identity, so that element (i, i) is x[i].
  std::vector<float> identity(n * n, 0), x(n * n, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    identity[i * n + i] = 1;
    x[i * n + i] = (static_cast<float>(i) - 128) / 16;
  }
  const BufferRef left = upload(x, stream), right = upload(identity, stream);
  const BufferRef out = allocate(n * n * sizeof(float), stream);
  const BufferRef workspace = allocate(blas_workspace_bytes(gpu), stream);
  const auto run = [&](const BufferRef& a, passes::Activation activation, Precision precision) {
    const Gemm product{.precision = precision,
                       .rows = n,
                       .columns = n,
                       .depth = n,
                       .a_leading = n,
                       .b_leading = n,
                       .out_batch_stride = n * n};
    const bool done =
        gemm_with_epilogue(product, {.activation = activation}, a->pointer(), right->pointer(),
                           out->pointer(), workspace->pointer(), stream);
    return done ? download(out, n * n, stream) : std::vector<float>();
  };
  std::vector<float> with_nan = x;
  with_nan[0] = NAN;
  const BufferRef nan = upload(with_nan, stream);
  for (const Precision precision : {Precision::ieee, Precision::tf32}) {
    // The products of the row with NaN are all NaN; -1 times the identity is no NaN elsewhere.
    const std::vector<float> relu = run(nan, passes::Activation::relu, precision);
    const std::vector<float> gelu = run(left, passes::Activation::gelu, precision);
    if (relu.empty() || gelu.empty()) {
      MESSAGE("the library refuses relu or gelu, " << name_of(precision));
      continue;
    }
    MESSAGE(name_of(precision) << ": relu of NaN is " << relu[0] << ", of -8 it is "
                               << relu[n + 1]);
    CHECK((std::isnan(relu[0]) || relu[0] == 0));
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = x[i * n + i];
      const double exact = 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
      worst = std::max(worst, std::abs(gelu[i * n + i] - exact));
    }
    MESSAGE(name_of(precision) << ": gelu is off by at most " << worst);
    CHECK(worst <= 1e-2);
  }
}

TEST_CASE("child: two products and one of them again" * doctest::skip()) {
  const Problem first, second{.batch = 2};
  const bool refused = std::getenv("HEDDLE_FAKE_CUBLASLT_REFUSES") != nullptr &&
                       std::string(std::getenv("HEDDLE_FAKE_CUBLASLT_REFUSES")) != "check";
  for (const Problem& problem : {first, second, first})
    CHECK(problem.run() == (refused ? std::vector<float>() : problem.expected()));
}

TEST_CASE("algorithms are chosen once a problem, and kept on disk") {
  const Folder folder;
  const std::string asked = "heuristic matmul heuristic matmul matmul ";
  const std::string looked_up = "check matmul check matmul matmul ";
  CHECK(folder.calls() == asked);
  CHECK(folder.calls() == looked_up);
  CHECK(folder.calls({"HEDDLE_FAKE_CUBLASLT_VERSION=130001"}) == asked);
  CHECK(folder.calls({"HEDDLE_CACHE=0"}) == asked);
  CHECK(folder.calls() == looked_up);
  // What the library does not take any more is chosen anew.
  CHECK(folder.calls({"HEDDLE_FAKE_CUBLASLT_REFUSES=check"}) ==
        "check heuristic matmul check heuristic matmul matmul ");
  CHECK(folder.calls() == looked_up);
}

TEST_CASE("a library that refuses is asked once a problem") {
  const Folder folder;
  CHECK(folder.calls({"HEDDLE_FAKE_CUBLASLT_REFUSES=heuristic"}) == "heuristic heuristic ");
  CHECK(folder.calls() == "heuristic matmul heuristic matmul matmul ");
  CHECK(folder.calls({"HEDDLE_FAKE_CUBLASLT_REFUSES=matmul"}) ==
        "check matmul check matmul matmul ");
}

TEST_CASE("entries that hold something else than an algorithm are made anew") {
  const Folder folder;
  folder.calls();
  cache::StoreOptions options;
  options.directory = (folder.path / "cache").string();
  std::size_t found = 0;
  for (const cache::ListedEntry& entry : cache::Store(options).list()) {
    if (entry.kind != cache::PayloadKind::algorithm) continue;
    ++found;
    test::write_text(entry.path, cache::encode({cache::PayloadKind::algorithm, entry.key_text,
                                                entry.facts, "too short"}));
  }
  CHECK(found == 2);
  CHECK(folder.calls() == "heuristic matmul heuristic matmul matmul ");
  CHECK(folder.calls() == "check matmul check matmul matmul ");
}
