#include <cstdint>
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

TEST_CASE("blocks of a cluster read one another's shared memory") {
  const codegen::KernelSource kernel = cluster_total();
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  constexpr int n = 1000;
  std::vector<float> in(n, 1.0f), out(8);
  LaunchShape shape;
  shape.block = {128, 1, 1};
  shape.grid = {8, 1, 1};
  shape.cluster = 4;
  shape.shared_bytes = 20;
  launch(module, kernel.name, shape, read(in), write(out), Argument::scalar(n));
  for (std::size_t block = 0; block < 8; ++block)
    CHECK(out[block] == (block < 4 ? 512.0f : 488.0f));
}

}  // namespace
}  // namespace heddle::emulator
