#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"
#include "runtime/base/fault.h"
#include "runtime/device/stream.h"
#include "runtime/execute/executable.h"

namespace {

using namespace heddle;
using runtime::fault::Kind;
using runtime::fault::Watch;

// Every stage and step kind once: pointwise, a scalar, reductions of one and of two kernels, a
// normalisation, views, parts, an update in place, temporaries, several outputs, a product, sorts,
// factorisations.
const char* const programs[] = {
    "func @pointwise(%0: f32[40], %1: f32[40]) -> f32[40] {\n %2 = multiply %0, %1 : f32[40]\n"
    " %3 = exp %2 : f32[40]\n return %3\n}\n",
    "func @scalar(%0: f32[7,5], %1: scalar f32) -> f32[7,5] {\n %2 = add %0, %1 : f32[7,5]\n "
    "return %2\n}\n",
    "func @rows(%0: f32[9,33]) -> f32[9] {\n %1 = sum %0 axes=[1] : f32[9]\n return %1\n}\n",
    "func @whole(%0: f32[300000]) -> f32[] {\n %1 = sum %0 axes=[0] : f32[]\n %2 = sqrt %1 : "
    "f32[]\n return %2\n}\n",
    "func @softmax(%0: f32[6,50]) -> f32[6,50] {\n %1 = max %0 axes=[1] keepdims : f32[6,1]\n"
    " %2 = subtract %0, %1 : f32[6,50]\n %3 = exp %2 : f32[6,50]\n %4 = sum %3 axes=[1] keepdims : "
    "f32[6,1]\n"
    " %5 = divide %3, %4 : f32[6,50]\n return %5\n}\n",
    "func @views(%0: f32[8,6]) -> f32[6,4] {\n %1 = transpose %0 axes=[1,0] : f32[6,8]\n"
    " %2 = slice %1 starts=[0,7] steps=[1,-2] : f32[6,4]\n %3 = negative %2 : f32[6,4]\n return "
    "%3\n}\n",
    "func @parts(%0: f32[3,4], %1: f32[2,4]) -> f32[5,4] {\n %2 = concatenate %0, %1 axes=[0] : "
    "f32[5,4]\n"
    " %3 = add %2, %2 : f32[5,4]\n return %3\n}\n",
    "func @update(%0: f32[10], %1: f32[3]) -> f32[10] {\n"
    " %2 = slice_update %0, %1 starts=[1] steps=[2] shape=[3] : f32[10]\n return %2\n}\n",
    "func @several(%0: f32[20,20]) -> (f32[20], f32[20], f32[20,20]) {\n %1 = sum %0 axes=[1] : "
    "f32[20]\n"
    " %2 = max %0 axes=[0] : f32[20]\n %3 = add %0, %1 : f32[20,20]\n %4 = divide %3, %2 : "
    "f32[20,20]\n"
    " return %1, %2, %4\n}\n",
    "func @product(%0: f32[12,9], %1: f32[9,7]) -> f32[12,7] {\n %2 = call matmul %0, %1 : "
    "f32[12,7]\n"
    " %3 = tanh %2 : f32[12,7]\n return %3\n}\n",
    "func @sorts(%0: f32[40000], %1: f32[7,5]) -> (f32[40000], i64[7,5], i64[7,5]) {\n"
    " %2 = call sort %0 {axis = 0} : f32[40000]\n %3 = call argsort %1 {axis = 0} : i64[7,5]\n"
    " %4 = searchsorted_left %2, %1 : i64[7,5]\n return %2, %3, %4\n}\n",
    "func @factors(%0: f32[5,1,1], %1: f32[9,9]) -> (f32[5,1,1], i32[5], f32[9,9]) {\n"
    " %2, %3 = call linalg.cholesky %0 : f32[5,1,1], i32[5]\n"
    " %4, _ = call linalg.cholesky %1 {upper = true} : f32[9,9], i32[]\n return %2, %3, %4\n}\n",
    "func @solutions(%0: f32[5,3,3], %1: f32[5,2,3], %2: f32[9,9]) -> (f32[5,2,3], i32[5], "
    "f32[9,9], f32[9], f32[9,9]) {\n"
    " %3, _, _, %4 = call linalg.solve %0, %1 : f32[5,2,3], f32[5,3,3], i32[5,3], i32[5]\n"
    " %5, %6 = call linalg.geqrf %2 : f32[9,9], f32[9]\n"
    " %7 = call linalg.householder_product %5, %6 : f32[9,9]\n"
    " %8 = call linalg.solve_triangular %5, %7 {unit = true} : f32[9,9]\n"
    " return %3, %4, %5, %6, %8\n}\n",
    "func @lu(%0: f32[4,6,3]) -> (f32[4,6,3], i32[4,3], i32[4,3]) {\n"
    " %1, %2, _ = call linalg.lu %0 : f32[4,6,3], i32[4,3], i32[4]\n"
    " %3 = call linalg.permutation_of_pivots %2 : i32[4,3]\n return %1, %2, %3\n}\n",
    "func @spectra(%0: f32[5,4,3], %1: f32[9,9]) -> (f32[5,4,3], f32[5,3], f32[5,3,3], f32[9], "
    "c64[9], f32[9,9], f32[9]) {\n"
    " %2, %3, %4, _ = call linalg.svd %0 {full_matrices = false} : f32[5,4,3], f32[5,3], "
    "f32[5,3,3], i32[5]\n"
    " %5, _, _ = call linalg.eigh %1 {upper = false} : f32[9], f32[9,9], i32[]\n"
    " %6, %7, _ = call linalg.eig %1 : c64[9], f32[9,9], i32[]\n"
    " %8, _ = call linalg.svdvals %1 : f32[9], i32[]\n return %2, %3, %4, %5, %6, %7, %8\n}\n",
};

class Program {
 public:
  explicit Program(const char* text)
      : graph_(ir::parse(text)), device_(runtime::current_device()) {}

  /// The outputs' bytes. `salt` makes the run one that no earlier run has compiled for.
  std::vector<std::string> run(const std::string& salt) const {
    runtime::Stream stream = runtime::Stream::current(device_);
    runtime::CompileOptions options;
    options.disabled = {salt};
    const auto executable = runtime::Executable::get(graph_, options, device_);
    std::vector<std::string> results;
    for (const runtime::DeviceArray& output : executable->run(arguments(stream), stream)) {
      std::string bytes(byte_count(output.type), '\0');
      runtime::copy(bytes.data(), {}, output.buffer->pointer(), device_, bytes.size(), stream);
      stream.synchronize();
      results.push_back(std::move(bytes));
    }
    return results;
  }

  std::size_t bytes_in_use() const { return runtime::pool_of(device_).statistics().in_use; }

 private:
  static std::size_t byte_count(const ir::Type& type) {
    return static_cast<std::size_t>(element_count(type.shape).constant()) * size_of(type.dtype);
  }

  std::vector<runtime::Argument> arguments(runtime::Stream& stream) const {
    std::vector<runtime::Argument> result;
    for (const ir::ValueId parameter : graph_.parameters()) {
      const ir::Type type = graph_.type(parameter);
      std::vector<float> values(byte_count(type) / sizeof(float));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i % 13) * 0.25f + 0.5f;
      if (graph_.attributes(parameter).scalar) {
        runtime::ScalarArgument scalar{type.dtype, 0};
        std::memcpy(scalar.bits.bytes(), values.data(), sizeof(float));
        result.emplace_back(scalar);
        continue;
      }
      runtime::DeviceArray array{type, runtime::allocate(byte_count(type), stream), 0};
      runtime::copy(array.buffer->pointer(), device_, values.data(), {}, byte_count(type), stream);
      result.emplace_back(std::move(array));
    }
    return result;
  }

  ir::Graph graph_;
  runtime::Device device_;
};

/// A cache directory of its own, so that every run compiles, loads and touches files. Kernels are
/// compiled without optimisation: whether they are fast is not what fails here.
class FreshCache {
 public:
  FreshCache() {
    setenv("HEDDLE_CXX_LEVEL", "0", 1);
    char path[] = "/tmp/heddle-faults-XXXXXX";
    REQUIRE(mkdtemp(path) != nullptr);
    path_ = path;
    setenv("HEDDLE_CACHE_DIR", path, 1);
  }
  ~FreshCache() { std::filesystem::remove_all(path_); }
  void clear() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      std::filesystem::remove_all(entry.path());
  }

 private:
  std::string path_;
};

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"allocation", "compile", "load", "launch", "file"};
  return names[static_cast<int>(kind)];
}

/// Runs with the k-th point of a kind failing. True when the caller got an error.
bool fail_once(const Program& program, const std::vector<std::string>& expected, Kind kind,
               std::int64_t k, const std::string& salt) {
  const Watch watch(kind, k);
  bool failed = false;
  try {
    const std::vector<std::string> survived = program.run(salt);
    CHECK(survived == expected);
  } catch (const Error& error) {
    failed = true;
    CHECK(std::string(error.what()).size() > 10);
  }
  // A cache that could not be written once is left alone from then on.
  CHECK((watch.fired() || kind == Kind::file));
  return failed;
}

enum class Survival : std::uint8_t { survived, unmet, failed };

/// The same for files in a child process, since the process that met a bad file stops writing.
Survival survives_in_child(const Program& program, const std::vector<std::string>& expected,
                           std::int64_t k) {
  constexpr int unmet = 4;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 1;
    try {
      const Watch watch(Kind::file, k);
      bool equal = true;
      try {
        equal = program.run("child") == expected;
      } catch (const Error&) {
        equal = true;  // as good as a result
      }
      status = equal && program.run("child again") == expected ? 0 : 2;
      if (status == 0 && !watch.fired()) status = unmet;
    } catch (...) {
      status = 3;
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return Survival::failed;
  if (WEXITSTATUS(status) == unmet) return Survival::unmet;
  return WEXITSTATUS(status) == 0 ? Survival::survived : Survival::failed;
}

}  // namespace

TEST_CASE("every allocation, compile, load, launch and file call may fail once") {
  const FreshCache cache;
  int runs = 0, errors = 0, unmet = 0;
  for (const char* text : programs) {
    const Program program(text);
    const std::vector<std::string> expected = program.run("reference");
    const std::size_t in_use = program.bytes_in_use();
    for (int kind = 0; kind < runtime::fault::kind_count; ++kind) {
      std::int64_t points = 0;
      {
        cache.clear();
        const Watch counter(static_cast<Kind>(kind));
        program.run(std::string("count ") + name_of(static_cast<Kind>(kind)));
        points = counter.count();
      }
      for (std::int64_t k = 0; k < points; ++k) {
        const std::string salt = std::string(name_of(static_cast<Kind>(kind))) + std::to_string(k);
        CAPTURE(std::string(text));
        CAPTURE(salt);
        cache.clear();
        if (static_cast<Kind>(kind) == Kind::file &&
            runtime::current_device() == runtime::Device{}) {
          // Entries whose hashes begin alike share a folder, which saves calls that were counted.
          const Survival survival = survives_in_child(program, expected, k);
          CHECK(survival != Survival::failed);
          unmet += survival == Survival::unmet ? 1 : 0;
        } else {
          errors += fail_once(program, expected, static_cast<Kind>(kind), k, salt) ? 1 : 0;
        }
        CHECK(program.run(salt) == expected);
        CHECK(program.bytes_in_use() == in_use);
        ++runs;
      }
    }
  }
  MESSAGE(runs << " injected faults, of which " << errors << " reached the caller");
  CHECK(runs > 100);
  CHECK(errors > 50);
  CHECK(unmet < 10);
}
