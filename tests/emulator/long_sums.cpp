// |sum - exact| <= (1 + 2 log2 n) eps sum|x| of every kernel that sums, however many elements a
// thread adds. eps is float32's for 16-bit floats, whose result is rounded once.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/types/element.h"
#include "ir/types/target.h"
#include "tests/emulator/emulated_programs.h"
#include "tests/support/host_arrays.h"

namespace heddle::emulator {
namespace {

/// Of few multiprocessors, so that blocks and threads have much to do; sm_80 has no clusters.
constexpr const char* small_gpu =
    "cuda sm_90 sm=1 shared=232448 registers=65536 threads=1024 cluster=16 l2=52428800 vector=16";

struct Case {
  const char* name;
  const char* body;  ///< of a graph of %0: {type}, whose first result is the sum, {sum}
  const char* type;  ///< of %0, less the dtype
  const char* sum;
  const char* target;
  std::vector<std::int64_t> shape;
  std::int64_t axis;                       ///< that is summed; -1: all
  std::int64_t leads, period;              ///< first elements of every thread: i % period < leads
  std::vector<std::string> disabled = {};  ///< families
  bool squares = false;
};

constexpr const char* sum_of_all = "  %1 = sum %0 axes=[0] : {sum}\n  return %1\n";
constexpr const char* sums_of_rows = "  %1 = sum %0 axes=[1] : {sum}\n  return %1\n";
constexpr const char* sums_of_columns = "  %1 = sum %0 axes=[0] : {sum}\n  return %1\n";
constexpr const char* sums_of_squares =
    "  %1 = multiply %0, %0 : {type}\n  %2 = sum %1 axes=[1] : {sum}\n"
    "  %3 = max %0 axes=[1] : {sum}\n  return %2, %3\n";
constexpr const char* columns_less_their_sums =
    "  %1 = sum %0 axes=[0] keepdims : {sum}\n  %2 = subtract %0, %1 : {type}\n"
    "  return %1, %2\n";

const std::vector<Case> cases = {
    {"rows", sums_of_rows, "[3,256001]", "[3]", small_gpu, {3, 256001}, 1, 256, 1 << 30},
    {"symbolic rows", sums_of_rows, "[n,m]", "[n]", "sm_90", {1, 256001}, 1, 256, 1 << 30},
    {"squares", sums_of_squares, "[n,m]", "[n]", "sm_90", {1, 200000}, 1, 256, 1 << 30, {}, true},
    {"middling rows", sums_of_rows, "[3,60001]", "[3]", small_gpu, {3, 60001}, 1, 256, 8192},
    {"columns", sums_of_columns, "[8000,33]", "[33]", small_gpu, {8000, 33}, 0, 8, 4000},
    {"middling columns", sums_of_columns, "[2000,33]", "[33]", small_gpu, {2000, 33}, 0, 8, 128},
    {"symbolic columns", sums_of_columns, "[n,m]", "[m]", "sm_90", {8001, 40}, 0, 8, 1 << 30},
    {"all, in parts", sum_of_all, "[1048579]", "[]", small_gpu, {1048579}, -1, 1024, 262148},
    {"symbolic, in parts", sum_of_all, "[n]", "[]", small_gpu, {1000003}, -1, 1024, 250004},
    {"held columns",
     columns_less_their_sums,
     "[8192,37]",
     "[1,37]",
     "sm_90",
     {8192, 37},
     0,
     8,
     512},
    {"columns read again",
     columns_less_their_sums,
     "[2048,37]",
     "[1,37]",
     "sm_80",
     {2048, 37},
     0,
     8,
     2048},
    {"one thread a row",
     sums_of_rows,
     "[3,5001]",
     "[3]",
     "sm_90",
     {3, 5001},
     1,
     1,
     1 << 30,
     {"reduction", "normalization"}},
};

std::string replaced(std::string text, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

ir::Graph graph_of(const Case& one, DType dtype) {
  const std::string type = std::string(name_of(dtype)) + one.type;
  const std::string sum = std::string(name_of(dtype)) + one.sum;
  const std::string results = one.body == columns_less_their_sums
                                  ? fmt::format("({}, {})", sum, type)
                              : one.squares ? fmt::format("({0}, {0})", sum)
                                            : sum;
  return ir::parse(fmt::format("func @sums(%0: {}) -> {} {{\n{}}}\n", type, results,
                               replaced(replaced(one.body, "{type}", type), "{sum}", sum)));
}

/// eps of what a dtype is summed in.
double accumulator_eps(DType dtype) { return real_dtype(dtype) == DType::f64 ? 0x1p-52 : 0x1p-23; }
/// Half of the dtype's own, where that is wider.
double result_rounding(DType dtype) {
  return dtype == DType::f16 ? 0x1p-11 : dtype == DType::bf16 ? 0x1p-8 : 0;
}

const std::vector<const char*> kinds = {"constant", "alternating",    "sorted",
                                        "random",   "there and back", "large then small"};

/// Element i of `count` along the axis that is summed.
double value_at(std::string_view kind, std::int64_t i, std::int64_t count, const Case& one,
                DType dtype, std::mt19937& random) {
  // Adding it to a number from 1 to 2 rounds, by nearly half an eps.
  const double small = accumulator_eps(dtype) / 2 * (1 + 0x1p-7);
  if (kind == "there and back" && i >= count - one.leads) return -1;
  if (kind == "large then small" || kind == "there and back")
    return i % one.period < one.leads ? 1 : small;
  const double x = static_cast<double>(i) / static_cast<double>(count);
  const double scale = dtype == DType::f16 ? 0x1p-6 : 1;  // no sum overflows
  if (kind == "constant") return 0.1 * scale;
  if (kind == "alternating") return (i % 2 == 0 ? 1 : -1) * (1 + x / 8) * scale;
  if (kind == "sorted") return (1 + 3 * x) * scale;
  return static_cast<double>(random()) * 0x1p-32 * scale;
}

/// A sum to far more digits than float64's.
struct Exact {
  long double sum = 0, lost = 0, magnitude = 0;
  void add(long double x) {
    const long double next = sum + x;
    lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
    magnitude += std::abs(x);
  }
};

template <class T>
std::vector<double> parts_of(T value) {
  if constexpr (heddle_scalar::is_complex<T>) {
    return {static_cast<double>(value.re), static_cast<double>(value.im)};
  } else {
    return {static_cast<double>(heddle_scalar::widen(value))};
  }
}

/// The greatest of |actual - exact| / bound over all sums and their parts.
template <class T>
double worst(const Case& one, const std::string& kind, EmulatedPrograms& programs,
             std::size_t program) {
  constexpr DType dtype = ir::dtype_of<T>;
  const std::int64_t rows = one.shape[0], columns = one.shape.size() > 1 ? one.shape[1] : 1;
  const bool along_rows = one.axis == 1;
  const std::int64_t n = along_rows ? columns : rows, sums = along_rows ? rows : columns;
  std::mt19937 random(3);
  std::vector<T> elements(static_cast<std::size_t>(rows * columns));
  constexpr std::size_t parts = heddle_scalar::is_complex<T> ? 2 : 1;
  std::vector<Exact> exact(static_cast<std::size_t>(sums) * parts);
  for (std::int64_t at = 0; at < rows * columns; ++at) {
    const std::int64_t i = along_rows ? at % columns : at / columns;
    const std::int64_t sum = along_rows ? at / columns : at % columns;
    const double x = value_at(kind, i, n, one, dtype, random);
    T& element = elements[static_cast<std::size_t>(at)];
    if constexpr (parts == 2) {
      using Part = typename T::Part;
      element = T(static_cast<Part>(x), static_cast<Part>(-3 * x));
    } else {
      element = heddle_scalar::narrow<T>(static_cast<decltype(heddle_scalar::widen(T()))>(x));
    }
    const std::vector<double> numbers = parts_of(element);
    for (std::size_t part = 0; part < parts; ++part) {
      const auto number = static_cast<long double>(numbers[part]);
      exact[static_cast<std::size_t>(sum) * parts + part].add(one.squares ? number * number
                                                                          : number);
    }
  }
  ir::Shape shape;
  for (const std::int64_t extent : one.shape) shape.push_back(extent);
  const ir::HostArray input =
      test::host_array<T>(dtype, shape, std::span<const T>(elements.data(), elements.size()));
  const ir::HostArray result = programs.run(program, std::span(&input, 1))[0];
  CHECK(programs.run(program, std::span(&input, 1), {.shuffle_seed = 5})[0].data == result.data);
  double greatest = 0;
  const double roundings = 1 + 2 * std::log2(static_cast<double>(n)) + (one.squares ? 0.5 : 0);
  for (std::size_t i = 0; i < exact.size() / parts; ++i) {
    T actual;
    std::memcpy(&actual, result.data.data() + i * sizeof(T), sizeof(T));
    const std::vector<double> numbers = parts_of(actual);
    for (std::size_t part = 0; part < parts; ++part) {
      const Exact& sum = exact[i * parts + part];
      const long double value = sum.sum + sum.lost;
      const double bound = roundings * accumulator_eps(dtype) * static_cast<double>(sum.magnitude) +
                           result_rounding(dtype) * std::abs(static_cast<double>(value));
      const auto error = static_cast<double>(std::abs(numbers[part] - value));
      greatest = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                   : std::max(greatest, error / bound);
    }
  }
  return greatest;
}

/// Returns the sections of the device library that the kernels are printed over.
std::set<std::string> check(const std::vector<Case>& checked, const std::vector<DType>& dtypes,
                            const std::vector<const char*>& of_kinds) {
  std::vector<runtime::PrintedProgram> printed;
  std::set<std::string> sections;
  for (const Case& one : checked) {
    for (const DType dtype : dtypes) {
      runtime::CompileOptions options;
      options.disabled = one.disabled;
      printed.push_back(
          runtime::print_program(graph_of(one, dtype), options, ir::parse_target(one.target)));
      for (const codegen::KernelSource& kernel : printed.back().kernels)
        sections.insert(kernel.sections.begin(), kernel.sections.end());
    }
  }
  EmulatedPrograms programs(std::move(printed));
  std::size_t program = 0;
  for (const Case& one : checked) {
    for (const DType dtype : dtypes) {
      for (const char* kind : of_kinds) {
        INFO(std::string(one.name) << " of " << name_of(dtype) << ", " << std::string(kind));
        ir::with_element(dtype, [&](auto element) {
          using T = typename decltype(element)::type;
          if constexpr (heddle_scalar::is_float<T> || heddle_scalar::is_soft<T> ||
                        heddle_scalar::is_complex<T>)
            CHECK(worst<T>(one, kind, programs, program) <= 1);
        });
      }
      ++program;
    }
  }
  return sections;
}

TEST_CASE("long sums of float32 keep to their bound in every kind of kernel") {
  const std::set<std::string> sections = check(cases, {DType::f32}, kinds);
  CHECK(sections.contains("fold_sum"));
  CHECK(sections.contains("add_sum"));
}

TEST_CASE("long sums of every dtype keep to their bound") {
  const std::vector<Case> few = {
      {"rows", sums_of_rows, "[n,m]", "[n]", "sm_90", {1, 100001}, 1, 256, 1 << 30},
      {"columns", sums_of_columns, "[n,m]", "[m]", "sm_90", {4001, 32}, 0, 8, 1 << 30}};
  check(few, {DType::f16, DType::bf16, DType::f64, DType::c64, DType::c128},
        {"constant", "there and back", "large then small"});
}

TEST_CASE("long sums of infinities, NaN and overflows are those of IEEE") {
  const ir::Graph graph = ir::parse(
      "func @sums(%0: f32[n,m]) -> f32[n] {\n  %1 = sum %0 axes=[1] : f32[n]\n  return %1\n}\n");
  std::vector<runtime::PrintedProgram> printed;
  printed.push_back(runtime::print_program(graph, {}, ir::parse_target("sm_90")));
  EmulatedPrograms programs(std::move(printed));
  constexpr std::int64_t rows = 6, columns = 20001;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> elements(rows * columns, 1.0f);
  const auto at = [&](std::int64_t row, std::int64_t i) -> float& {
    return elements[static_cast<std::size_t>(row * columns + i)];
  };
  at(0, 0) = infinity;
  at(1, 12345) = -infinity;
  at(2, 0) = infinity, at(2, 20000) = -infinity;
  at(3, 9000) = std::numeric_limits<float>::quiet_NaN();
  for (std::int64_t i = 0; i < columns; ++i) at(4, i) = 3e38f, at(5, i) = -3e38f;
  const ir::HostArray input = test::host_array<float>(DType::f32, {rows, columns}, elements);
  const ir::HostArray result = programs.run(0, std::span(&input, 1))[0];
  float sums[rows];
  std::memcpy(sums, result.data.data(), sizeof sums);
  CHECK(sums[0] == infinity);
  CHECK(sums[1] == -infinity);
  CHECK(std::isnan(sums[2]));
  CHECK(std::isnan(sums[3]));
  CHECK(sums[4] == infinity);
  CHECK(sums[5] == -infinity);
}

}  // namespace
}  // namespace heddle::emulator
