#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/emulator/launch_kernel.h"

namespace heddle::emulator {
namespace {

/// The hash of a text: combinations in another order show.
constexpr const char* text_hash = R"(
struct R {
  struct State {
    unsigned int hash, power;
  };
  static __device__ State identity() { return {0, 1}; }
  static __device__ State lift(unsigned int letter) { return {letter, 31}; }
  static __device__ State combine(State a, State b) {
    return {a.hash * b.power + b.hash, a.power * b.power};
  }
};
)";

std::vector<unsigned int> letters(std::size_t count) {
  std::mt19937 random(5);
  std::vector<unsigned int> result(count);
  for (unsigned int& letter : result) letter = static_cast<unsigned int>(random() % 97);
  return result;
}

unsigned int appended(unsigned int hash, unsigned int letter) { return hash * 31 + letter; }

struct Lanes {
  int lanes, held, width;
  std::string name() const { return fmt::format("lanes_{}_{}_{}", lanes, held, width); }
  int threads() const { return lanes < 128 ? 128 : lanes; }
};

/// p1[row, i] is the hash of letters 0 .. i of the row, p2[row, lane] that of all.
codegen::KernelSource lanes_kernel(const Lanes& shape) {
  return {shape.name(),
          {"memory", "block_scan"},
          text_hash + fmt::format(R"(
extern "C" __global__ void {0}(const unsigned int* p0, unsigned int* p1, unsigned int* p2) {{
  const int thread = linear_thread(), lane = thread % {1}, row = thread / {1};
  R::State a[{2}][{3}];
  for (int h = 0; h < {2}; ++h) {{
    for (int k = 0; k < {3}; ++k)
      a[h][k] = R::lift(load(p0, ((row * {2} + h) * {1} + lane) * {3} + k));
  }}
  const R::State total = scan_groups<R, {1}>(a);
  for (int h = 0; h < {2}; ++h) {{
    for (int k = 0; k < {3}; ++k)
      store(p1, ((row * {2} + h) * {1} + lane) * {3} + k, a[h][k].hash);
  }}
  store(p2, thread, total.hash);
}}
)",
                                  shape.name(), shape.lanes, shape.held, shape.width)};
}

/// Each block is a tile of one letter; p1[tile] is the hash of the letters before it.
codegen::KernelSource tiles_kernel(const std::string& name, const std::string& tile) {
  return {name,
          {"memory", "look_back"},
          text_hash + fmt::format(R"(
extern "C" __global__ void {}(const unsigned int* p0, unsigned int* p1, R::State* p2,
                              unsigned long long* p3, long long tiles) {{
  const long long tile = {};
  const R::State own = R::lift(load(p0, tile));
  const R::State before = look_back<R>(own, p2, p3, TileOffsets{{0, 1, tiles, tile}});
  if (threadIdx.x == 0) store(p1, tile, before.hash);
}}
)",
                                  name, tile)};
}

/// Each block is a tile of 40 columns of one letter each, in blocks of (32, 8) and two a thread.
constexpr const char* columns_kernel = R"(
extern "C" __global__ void columns(const unsigned int* p0, unsigned int* p1, R::State* p2,
                                   unsigned long long* p3, long long tiles) {
  const long long tile = take_ticket(p3);
  const int column = static_cast<int>(threadIdx.x) * 2;
  R::State own[2] = {R::identity(), R::identity()}, before[2];
  for (int k = 0; k < 2; ++k) {
    if (column + k < 40) own[k] = R::lift(load(p0, tile * 40 + column + k));
  }
  look_back_columns<R>(own, before, p2, p3, TileOffsets{column, 1, tiles, tile}, 40, 40 - column);
  for (int k = 0; k < 2; ++k) {
    if (threadIdx.y == 7 && column + k < 40) store(p1, tile * 40 + column + k, before[k].hash);
  }
}
)";

}  // namespace

TEST_CASE("scans within blocks keep the order of their elements") {
  std::vector<Lanes> shapes;
  for (const int lanes : {1, 2, 8, 32, 64, 128, 256, 1024}) shapes.push_back({lanes, 2, 2});
  for (const Lanes& shape : {Lanes{32, 1, 4}, {128, 1, 1}, {256, 4, 4}, {512, 3, 1}, {1024, 2, 1}})
    shapes.push_back(shape);
  std::vector<codegen::KernelSource> kernels;
  for (const Lanes& shape : shapes) kernels.push_back(lanes_kernel(shape));
  EmulatedModule module = EmulatedModule::compile(kernels);
  for (const Lanes& shape : shapes) {
    CAPTURE(shape.name());
    const auto threads = static_cast<std::size_t>(shape.threads());
    const auto row = static_cast<std::size_t>(shape.lanes * shape.held * shape.width);
    const std::vector<unsigned int> in =
        letters(threads * static_cast<std::size_t>(shape.held * shape.width));
    std::vector<unsigned int> out(in.size()), totals(threads);
    LaunchShape launched;
    launched.block = {static_cast<std::uint32_t>(threads), 1, 1};
    launched.shared_bytes = static_cast<std::uint32_t>(
        (threads / 32 * static_cast<std::size_t>(shape.held) + threads) * 8);
    launch(module, shape.name(), launched, read(in), write(out), write(totals));
    unsigned int hash = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      hash = appended(i % row == 0 ? 0 : hash, in[i]);
      REQUIRE(out[i] == hash);
      if (i % row == row - 1) {
        for (int lane = 0; lane < shape.lanes; ++lane)
          REQUIRE(totals[i / row * static_cast<std::size_t>(shape.lanes) +
                         static_cast<std::size_t>(lane)] == hash);
      }
    }
  }
}

TEST_CASE("tiles look back through all levels, in whatever order blocks begin") {
  const codegen::KernelSource kernel = tiles_kernel("tiles", "take_ticket(p3)");
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  for (const std::int64_t tiles : {1, 2, 32, 33, 34, 64, 65, 1100}) {
    CAPTURE(tiles);
    const auto count = static_cast<std::size_t>(tiles);
    const std::vector<unsigned int> in = letters(count);
    std::vector<unsigned int> out(count), states(4 * count);
    std::vector<unsigned long long> flags(1 + 2 * count);
    LaunchShape shape;
    shape.block = {256, 1, 1};
    shape.grid = {static_cast<std::uint32_t>(tiles), 1, 1};
    shape.shared_bytes = 64;
    shape.shuffle_seed = static_cast<std::uint64_t>(tiles);
    launch(module, "tiles", shape, read(in), write(out), read_write(states), read_write(flags),
           Argument::scalar(tiles));
    unsigned int hash = 0;
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(out[i] == hash);
      hash = appended(hash, in[i]);
    }
  }
}

TEST_CASE("columns of tiles look back through all levels") {
  const codegen::KernelSource kernel{
      "columns", {"memory", "look_back_columns"}, std::string(text_hash) + columns_kernel};
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  for (const std::int64_t tiles : {1, 2, 8, 9, 64, 65, 530}) {
    CAPTURE(tiles);
    const auto count = static_cast<std::size_t>(tiles);
    const std::vector<unsigned int> in = letters(count * 40);
    std::vector<unsigned int> out(count * 40), states(4 * count * 40);
    std::vector<unsigned long long> flags(1 + 2 * count);
    LaunchShape shape;
    shape.block = {32, 8, 1};
    shape.grid = {static_cast<std::uint32_t>(tiles), 1, 1};
    shape.shared_bytes = 8 * 64 * 8;
    shape.shuffle_seed = 3;
    launch(module, "columns", shape, read(in), write(out), read_write(states), read_write(flags),
           Argument::scalar(tiles));
    for (std::size_t column = 0; column < 40; ++column) {
      unsigned int hash = 0;
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(out[i * 40 + column] == hash);
        hash = appended(hash, in[i * 40 + column]);
      }
    }
  }
}

TEST_CASE("a tile that waits for one that may not have begun is a deadlock") {
  const codegen::KernelSource kernel = tiles_kernel("untimely", "blockIdx.x");
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  const std::vector<unsigned int> in = letters(40);
  std::vector<unsigned int> out(40), states(160);
  std::vector<unsigned long long> flags(81);
  LaunchShape shape;
  shape.block = {256, 1, 1};
  shape.grid = {40, 1, 1};
  shape.shared_bytes = 64;
  shape.shuffle_seed = 1;
  CHECK_THROWS_WITH_AS(launch(module, "untimely", shape, read(in), write(out), read_write(states),
                              read_write(flags), Argument::scalar(std::int64_t{40})),
                       doctest::Contains("a deadlock"), EmulationError);
}

TEST_CASE("a flag hands over only what was fenced before it, and by an atomic") {
  const auto handover = [](const std::string& name, const std::string& give) {
    return codegen::KernelSource{
        name,
        {"memory", "atomic"},
        "extern \"C\" __global__ void " + name +
            "(int* p0, unsigned int* p1) {\n  if (blockIdx.x == 0) { store(p0, 0, 7); " + give +
            " }\n  else { wait_until_set(p1, 0); device_fence(); store(p0, 1, load(p0, 0)); "
            "}\n}\n"};
  };
  const codegen::KernelSource kernels[] = {
      handover("fenced", "device_fence(); atomic_add(p1, 0, 1u);"),
      handover("unfenced", "atomic_add(p1, 0, 1u);"),
      handover("stored", "device_fence(); store(p1, 0, 1u);"), handover("forgotten", "")};
  EmulatedModule module = EmulatedModule::compile(kernels);
  const auto run_one = [&](std::string_view name) {
    std::vector<int> out(2);
    std::vector<unsigned int> flag(1);
    launch(module, name, {.grid = {2, 1, 1}}, write(out), read_write(flag));
    CHECK(out[1] == 7);
  };
  run_one("fenced");
  CHECK_THROWS_WITH_AS(run_one("unfenced"), doctest::Contains("a race"), EmulationError);
  CHECK_THROWS_WITH_AS(run_one("stored"), doctest::Contains("a race"), EmulationError);
  CHECK_THROWS_WITH_AS(run_one("forgotten"), doctest::Contains("a deadlock"), EmulationError);
}

}  // namespace heddle::emulator
