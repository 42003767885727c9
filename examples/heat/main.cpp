// The heat equation on a square plate: explicit steps, written with slices. A step is one kernel.

#include <cstdio>
#include <utility>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

/// A hot ring and a hot bar on a cold plate.
hd::Array plate(std::int64_t size) {
  const hd::Array place = hd::linspace(-1.0, 1.0, size, true, hd::DType::f32);
  const hd::Array x = place(hd::newaxis, hd::_), y = place(hd::_, hd::newaxis);
  const hd::Array ring = hd::abs(hd::hypot(x, y) - 0.6) < 0.1;
  const hd::Array bar = (hd::abs(x) < 0.35) & (hd::abs(y) < 0.05);
  return (ring | bar).astype<float>();
}

/// One step of du/dt = laplacian(u). The border stays as cold as it is.
hd::Array step(hd::Array u, const hd::Array& rate) {
  const hd::Slice inside = hd::slice(1, -1), before = hd::slice(-2), after = hd::slice(2, hd::none);
  const hd::Array inner = u(inside, inside);
  const hd::Array laplacian =
      u(before, inside) + u(after, inside) + u(inside, before) + u(inside, after) - 4 * inner;
  u.at(inside, inside) = inner + rate * laplacian;
  return u;
}

void run(const Options& options) {
  const auto advance = hd::jit(step, {.name = "step"});
  hd::Array u = plate(options.size);
  std::printf("before: mean %.5f, highest %.5f\n", u.mean().item<double>(), u.max().item<double>());
  for (std::int64_t i = 0; i < options.steps; ++i) {
    const double rate = i < 100 ? 0.1 : 0.24;  // a new number compiles nothing
    u = advance(std::move(u), rate);
  }
  const hd::Array middle = u(options.size / 2, options.size / 2);
  std::printf("after %lld steps: mean %.5f, highest %.5f, in the middle %.5f\n",
              static_cast<long long>(options.steps), u.mean().item<double>(),
              u.max().item<double>(), middle.item<double>());
  if (!options.out.empty()) hd::save(options.out, u);
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 512, .steps = 2000}, run);
}
