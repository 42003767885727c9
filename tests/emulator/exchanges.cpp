#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/emulator/kernels.h"
#include "tests/emulator/launch_kernel.h"

namespace heddle::emulator {
namespace {

TEST_CASE("shuffles and ballots move what their definitions say") {
  const codegen::KernelSource kernel = warp_exchanges();
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  constexpr int n = 96;
  std::vector<std::int64_t> in(n), out(7 * n);
  for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = i * i % 101;
  LaunchShape shape;
  shape.block = {n, 1, 1};
  launch(module, kernel.name, shape, read(in), write(out));

  const auto value = [&](int i) { return in[static_cast<std::size_t>(i)]; };
  for (int i = 0; i < n; ++i) {
    CAPTURE(i);
    const auto got = [&](int row) { return out[static_cast<std::size_t>(row * n + i)]; };
    const int warp = i / 32 * 32;
    CHECK(got(0) == value(i / 8 * 8 + (i + 3) % 8));
    CHECK(got(1) == value(i % 16 + 5 < 16 ? i + 5 : i));
    CHECK(got(2) == value(i > warp ? i - 1 : i));
    CHECK(got(3) == value(i ^ 2));
    std::int64_t votes = 0;
    for (int lane = 0; lane < 32; ++lane) {
      votes |= std::int64_t{value(warp + lane) % 3 == 0} << lane;
    }
    CHECK(got(4) == votes);
    CHECK(got(5) == value(i ^ 16));
    const std::int64_t next = value(i % 32 == 31 ? i : i + 1);
    CHECK(got(6) == next + 2 * next);
  }
}

TEST_CASE("the last of several blocks adds what the others left, whatever their order") {
  const codegen::KernelSource kernel = whole_sum();
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    constexpr int n = 10'007;
    std::vector<float> in(n), partial(13), total(1);
    std::int64_t want = 0;
    for (int i = 0; i < n; ++i) {
      in[static_cast<std::size_t>(i)] = static_cast<float>(i % 17 - 5);
      want += i % 17 - 5;
    }
    std::vector<std::uint32_t> counter = {0};
    LaunchShape shape;
    shape.block = {256, 1, 1};
    shape.grid = {13, 1, 1};
    shape.shared_bytes = 36;
    shape.shuffle_seed = seed;
    launch(module, kernel.name, shape, read(in), write(partial), write(total), read_write(counter),
           Argument::scalar(n));
    CHECK(total[0] == static_cast<float>(want));
    CHECK(counter[0] == 0);
  }
}

/// Every thread's results in clusters of 4 blocks of 64 threads; `again` is what a reduction of 4
/// equal results makes of them.
template <class T, class Result>
void check_cluster(const std::string& op, const std::string& type,
                   const std::function<Result(const std::vector<T>&, int first)>& want,
                   const std::function<Result(Result)>& again) {
  const std::vector<int> widths = {1, 8, 32};
  std::vector<codegen::KernelSource> kernels;
  for (int slots : widths) kernels.push_back(cluster_reduction(op, type, slots));
  EmulatedModule module = EmulatedModule::compile(kernels);
  for (std::size_t k = 0; k < widths.size(); ++k) {
    const int slots = widths[k];
    std::vector<T> in(static_cast<std::size_t>(8 * slots * 2));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * 37 % 19);
    std::vector<Result> out(std::size_t{8} * 64 * 4);
    LaunchShape shape;
    shape.block = {64, 1, 1};
    shape.grid = {8, 1, 1};
    shape.cluster = 4;
    shape.shared_bytes = 8192;
    launch(module, kernels[k].name, shape, Argument::read(in.data(), in.size() * sizeof(T)),
           Argument::write(out.data(), out.size() * sizeof(Result)));
    int wrong = 0;
    for (int i = 0; i < 8 * 64; ++i) {
      for (int lane = 0; lane < 2; ++lane) {
        std::vector<T> values;
        const int cluster = i / 64 / 4, first = cluster * 4 * slots + i % 64 % slots;
        for (int rank = 0; rank < 4; ++rank)
          values.push_back(in[static_cast<std::size_t>((first + rank * slots) * 2 + lane)]);
        const Result result = want(values, first);
        wrong += out[static_cast<std::size_t>(i * 4 + lane)] != result;
        wrong += out[static_cast<std::size_t>(i * 4 + 2 + lane)] != again(result);
      }
    }
    INFO(kernels[k].name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("blocks of a cluster combine what each of them has") {
  check_cluster<float, float>(
      "sum", "float",
      [](const auto& values, int) { return values[0] + values[1] + values[2] + values[3]; },
      [](float sum) { return 4 * sum; });
  check_cluster<double, double>(
      "max", "double", [](const auto& values, int) { return *std::ranges::max_element(values); },
      [](double most) { return most; });
  check_cluster<signed char, std::uint8_t>(
      "all", "signed char",
      [](const auto& values, int) { return std::uint8_t{std::ranges::count(values, 0) == 0}; },
      [](std::uint8_t all) { return all; });
}

TEST_CASE("the first of equal extremes is found over a cluster") {
  for (int slots : {1, 16}) {
    const codegen::KernelSource kernel = cluster_reduction("argmax", "float", slots);
    EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
    std::vector<float> in(static_cast<std::size_t>(4 * slots * 2), 3.0f);
    std::vector<std::int64_t> out(std::size_t{4} * 64 * 4);
    LaunchShape shape;
    shape.block = {64, 1, 1};
    shape.grid = {4, 1, 1};
    shape.cluster = 4;
    shape.shared_bytes = 8192;
    launch(module, kernel.name, shape, read(in), write(out));
    int wrong = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      wrong += out[i] != static_cast<std::int64_t>(i / 4 % 64 % static_cast<std::size_t>(slots));
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace heddle::emulator
