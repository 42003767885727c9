// The Game of Life on a torus. A generation is shifted sums of bytes and a comparison: one kernel.

#include <cstdio>
#include <utility>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

struct World {
  hd::Array cells;  // uint8, 1 where there is life
  hd::Array trail;  // float32, fades where there was life
};
HEDDLE_STRUCT(World, cells, trail)

/// A random-looking disc of cells in an empty world.
World soup(std::int64_t size) {
  const hd::Array row = hd::arange(size)(hd::_, hd::newaxis);
  const hd::Array column = hd::arange(size)(hd::newaxis, hd::_);
  hd::Array mixed = (row * 73856093) ^ (column * 19349663);
  mixed = mixed ^ (mixed >> 11);
  const hd::Array away2 = hd::square(row - size / 2) + hd::square(column - size / 2);
  const hd::Array disc = away2 < (size / 4) * (size / 4);
  const hd::Array cells = (disc & (mixed % 3 == 0)).astype<std::uint8_t>();
  return {cells, cells.astype<float>()};
}

World generation(World world) {
  const hd::Array& cells = world.cells;
  const hd::Slice before = hd::slice(-2), middle = hd::slice(1, -1), after = hd::slice(2, hd::none);
  const hd::Array p = hd::pad(cells, {{1, 1}}, "wrap");
  const hd::Array rows = p(before) + p(middle) + p(after);
  const hd::Array around =  // with the cell itself
      rows(hd::_, before) + rows(hd::_, middle) + rows(hd::_, after);
  const hd::Array alive = (around == 3) | ((around == 4) & (cells == 1));
  world.cells = alive.astype<std::uint8_t>();
  world.trail = hd::maximum(0.98 * world.trail, world.cells);
  return world;
}

void run(const Options& options) {
  const auto advance = hd::jit(generation, {.name = "generation"});
  World world = soup(options.size);
  const auto size = static_cast<long long>(options.size);
  std::printf("%lldx%lld cells, %lld alive\n", size, size,
              hd::count_nonzero(world.cells).item<long long>());
  for (std::int64_t i = 0; i < options.steps; ++i) world = advance(std::move(world));
  std::printf("after %lld generations %lld alive, mean trail %.5f\n",
              static_cast<long long>(options.steps),
              hd::count_nonzero(world.cells).item<long long>(), world.trail.mean().item<double>());
  if (!options.out.empty()) hd::save(options.out, world.trail);
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 512, .steps = 400}, run);
}
