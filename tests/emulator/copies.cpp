#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "tests/emulator/kernels.h"
#include "tests/emulator/launch_kernel.h"

namespace heddle::emulator {
namespace {

/// Values are counted up in the unsigned type of the element's size: copies only move bits.
template <class Bits>
void check_copies(const std::string& type) {
  const std::vector<int> widths = {1, 2, 4, 8, 16};
  std::vector<codegen::KernelSource> kernels;
  for (int width : widths) {
    kernels.push_back(vector_copy(type, width, false));
    kernels.push_back(vector_copy(type, width, true));
  }
  EmulatedModule module = EmulatedModule::compile(kernels);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const int width = widths[k / 2];
    for (int n : {1, width, 255 * width + 1, 256 * width, 256 * width + width - 1, 3000}) {
      CAPTURE(kernels[k].name);
      CAPTURE(n);
      std::vector<Bits> in(static_cast<std::size_t>(n)), out(in.size());
      std::iota(in.begin(), in.end(), Bits{1});
      LaunchShape shape;
      shape.block = {256, 1, 1};
      shape.grid = {blocks_for(n, 256 * width), 1, 1};
      const LaunchTraffic traffic =
          launch(module, kernels[k].name, shape, read(in), write(out), Argument::scalar(n));
      CHECK(out == in);
      CHECK(traffic.loaded == std::vector<std::int64_t>{n * std::int64_t{sizeof(Bits)}, 0});
      CHECK(traffic.stored == std::vector<std::int64_t>{0, n * std::int64_t{sizeof(Bits)}});
    }
  }
}

TEST_CASE("copies by vectors of every width, with tails, move every element once") {
  check_copies<std::uint8_t>("signed char");
  check_copies<std::uint16_t>("half");
  check_copies<std::uint32_t>("float");
  check_copies<std::uint64_t>("double");
}

TEST_CASE("a tile transpose agrees with a loop, blocks in any order") {
  const codegen::KernelSource kernel = tile_transpose("float");
  EmulatedModule module = EmulatedModule::compile(std::span(&kernel, 1));
  for (int rows : {1, 31, 32, 33, 100}) {
    for (int columns : {1, 8, 32, 65}) {
      CAPTURE(rows);
      CAPTURE(columns);
      std::vector<float> in(static_cast<std::size_t>(rows * columns)), out(in.size()),
          want(in.size());
      std::iota(in.begin(), in.end(), 0.0f);
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          want[static_cast<std::size_t>(j * rows + i)] =
              in[static_cast<std::size_t>(i * columns + j)];
        }
      }
      LaunchShape shape;
      shape.block = {32, 8, 1};
      shape.grid = {blocks_for(columns, 32), blocks_for(rows, 32), 1};
      shape.shared_bytes = 32 * 33 * sizeof(float);
      shape.shuffle_seed = static_cast<std::uint64_t>(rows * columns);
      launch(module, kernel.name, shape, read(in), write(out), Argument::scalar(rows),
             Argument::scalar(columns));
      CHECK(out == want);
    }
  }
}

}  // namespace
}  // namespace heddle::emulator
