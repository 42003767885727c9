#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "tests/emulator/kernels.h"
#include "tests/emulator/launch_kernel.h"

namespace heddle::emulator {
namespace {

const std::vector<std::string> arithmetic = {"sum", "prod", "min", "max"};
const std::vector<std::string> truth = {"any", "all"};
const std::vector<std::string> indices = {"argmin", "argmax"};

template <class T>
bool is_nan(T x) {
  return x != x;
}

/// The reduction by a plain loop, as a double: values are small integers, so all of it is exact.
template <class T>
double reduce_by_loop(const std::string& op, const T* values, std::int64_t count,
                      std::int64_t stride) {
  double s = op == "prod" || op == "all" ? 1 : 0;
  std::int64_t best = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const T x = values[i * stride];
    const T extreme = values[best * stride];
    const bool smaller = op == "min" || op == "argmin";
    if (!is_nan(extreme) && (is_nan(x) || (smaller ? x < extreme : x > extreme))) best = i;
    if (op == "sum") s += static_cast<double>(x);
    if (op == "prod") s *= static_cast<double>(x);
    if (op == "any") s = s != 0 || x != T(0);
    if (op == "all") s = s != 0 && x != T(0);
  }
  if (op == "min" || op == "max") return static_cast<double>(values[best * stride]);
  if (op == "argmin" || op == "argmax") return static_cast<double>(best);
  return s;
}

/// Small integers; for prod mostly 1, for any and all mostly the value that does not decide, and
/// in some rows of floats a few NaNs.
template <class T>
std::vector<T> sample(const std::string& op, std::size_t rows, std::size_t columns,
                      std::mt19937& random) {
  std::vector<T> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int r = static_cast<int>(random() % 1000);
    int x = r % 9 - 4;
    if (op == "prod") x = r < 990 ? 1 : r < 995 ? -1 : 2;
    if (op == "any") x = r == 0 ? 3 : 0;
    if (op == "all") x = r == 0 ? 0 : 2;
    values[i] = static_cast<T>(x);
  }
  if constexpr (std::is_floating_point_v<T>) {
    const bool ordered = op == "min" || op == "max" || op == "argmin" || op == "argmax";
    for (std::size_t row = 1; ordered && row < rows; row += 2) {
      for (int k = 0; k < 2; ++k) {
        values[row * columns + random() % columns] = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
  return values;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class T, class Result>
void check_rows(EmulatedModule& module, const codegen::KernelSource& kernel, const std::string& op,
                int threads, std::mt19937& random) {
  const int block = row_reduction_block(threads);
  const int rows_of_block = block / threads;
  for (int columns : {1, threads - 1, threads, threads + 1, 3 * threads + 5}) {
    if (columns == 0) continue;
    for (int rows : {1, rows_of_block + 1, 3 * rows_of_block + 2}) {
      const auto in =
          sample<T>(op, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), random);
      std::vector<Result> out(static_cast<std::size_t>(rows * threads));
      LaunchShape shape;
      shape.block = {static_cast<std::uint32_t>(block), 1, 1};
      shape.grid = {2, 1, 1};
      shape.shared_bytes = threads > 32 ? static_cast<std::uint32_t>(block / 32 * 16) : 0;
      shape.shuffle_seed = random();
      launch(module, kernel.name, shape, Argument::read(in.data(), in.size() * sizeof(T)),
             Argument::write(out.data(), out.size() * sizeof(Result)),
             Argument::scalar(static_cast<std::int64_t>(rows)),
             Argument::scalar(static_cast<std::int64_t>(columns)));
      int wrong = 0;
      for (int row = 0; row < rows; ++row) {
        const double want = reduce_by_loop(op, in.data() + row * columns, columns, 1);
        for (int lane = 0; lane < threads; ++lane) {
          wrong +=
              !same(static_cast<double>(out[static_cast<std::size_t>(row * threads + lane)]), want);
        }
      }
      INFO(kernel.name << " of " << rows << " x " << columns);
      CHECK(wrong == 0);
    }
  }
}

template <class T, class Result>
void check_row_reductions(const std::vector<std::string>& ops, const std::string& type,
                          const std::vector<int>& threads) {
  std::vector<codegen::KernelSource> kernels;
  for (const std::string& op : ops) {
    for (int each : threads) kernels.push_back(row_reduction(op, type, each));
  }
  EmulatedModule module = EmulatedModule::compile(kernels);
  std::mt19937 random(17);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    check_rows<T, Result>(module, kernels[i], ops[i / threads.size()], threads[i % threads.size()],
                          random);
  }
}

const std::vector<int> every_count = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
const std::vector<int> some_counts = {1, 16, 64, 1024};

TEST_CASE("row reductions of float32 by 1 to 1024 threads agree with a loop") {
  check_row_reductions<float, float>(arithmetic, "float", every_count);
  check_row_reductions<float, std::uint8_t>(truth, "float", every_count);
  check_row_reductions<float, std::int64_t>(indices, "float", every_count);
}

TEST_CASE("row reductions of other dtypes agree with a loop") {
  check_row_reductions<double, double>(arithmetic, "double", some_counts);
  check_row_reductions<std::int64_t, std::int64_t>(arithmetic, "long long", some_counts);
  check_row_reductions<std::int64_t, std::int64_t>(indices, "long long", some_counts);
  check_row_reductions<std::int8_t, std::uint8_t>(truth, "signed char", some_counts);
  check_row_reductions<std::int16_t, std::int64_t>(indices, "short", some_counts);
}

TEST_CASE("column reductions of every width of a block agree with a loop") {
  struct Block {
    int x, threads;
  };
  const std::vector<Block> blocks = {{1, 32}, {2, 64}, {4, 512}, {8, 256}, {16, 128}, {32, 1024}};
  std::vector<codegen::KernelSource> kernels;
  for (const std::string& op : arithmetic) {
    for (const auto& [x, threads] : blocks)
      kernels.push_back(column_reduction(op, "float", x, threads));
  }
  EmulatedModule module = EmulatedModule::compile(kernels);
  std::mt19937 random(18);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::string& op = arithmetic[k / blocks.size()];
    const auto [across, threads] = blocks[k % blocks.size()];
    const int height = threads / across;
    for (int rows : {1, 7, 8, 33, 200}) {
      for (int columns : {1, 32, 70}) {
        const auto in = sample<float>(op, static_cast<std::size_t>(rows),
                                      static_cast<std::size_t>(columns), random);
        // Results are combined once more, of equal states: a maximum stays, a sum is that of all.
        std::vector<float> out(static_cast<std::size_t>(columns * height));
        LaunchShape shape;
        shape.block = {static_cast<std::uint32_t>(across), static_cast<std::uint32_t>(height), 1};
        shape.grid = {blocks_for(columns, 2 * across), 1, 1};
        shape.shared_bytes = static_cast<std::uint32_t>(threads / 32 * across * 2 * 4);
        launch(module, kernels[k].name, shape, read(in), write(out), Argument::scalar(rows),
               Argument::scalar(columns));
        int wrong = 0;
        for (int x = 0; x < columns; ++x) {
          double want = reduce_by_loop(op, in.data() + x, rows, columns);
          if (op == "sum") want *= height;
          if (op == "prod") want = std::pow(want, height);
          for (int y = 0; y < height; ++y)
            wrong +=
                !same(out[static_cast<std::size_t>(y * columns + x)], static_cast<float>(want));
        }
        INFO(kernels[k].name << " of " << rows << " x " << columns);
        CHECK(wrong == 0);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::emulator
