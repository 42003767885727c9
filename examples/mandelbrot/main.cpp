// The Mandelbrot set. A loop on the host calls a jitted function that iterates eight times: one
// kernel. Loops of C++ are unrolled when a function is traced, so how many iterations a kernel has
// is a choice.

#include <complex>
#include <cstdio>
#include <utility>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

constexpr int unrolled = 8;

struct Orbit {
  hd::Array z;      // complex64
  hd::Array count;  // iterations that stayed within the circle of radius 2
};
HEDDLE_STRUCT(Orbit, z, count)

Orbit iterate(Orbit orbit, const hd::Array& c) {
  for (int i = 0; i < unrolled; ++i) {
    const hd::Array z = orbit.z * orbit.z + c;
    const hd::Array bounded = z.real() * z.real() + z.imag() * z.imag() <= 4.0;
    orbit.z = hd::where(bounded, z, 4.0);  // what has left stays outside, and finite
    orbit.count += bounded;
  }
  return orbit;
}

/// Points of the complex plane around the set's seahorses.
hd::Array plane(std::int64_t size) {
  const hd::Array x = hd::linspace(-0.755, -0.735, size, true, hd::DType::f32);
  const hd::Array y = hd::linspace(0.1, 0.12, size, true, hd::DType::f32);
  return x(hd::newaxis, hd::_) + std::complex(0.0, 1.0) * y(hd::_, hd::newaxis);
}

void run(const Options& options) {
  const auto advance = hd::jit(iterate, {.name = "iterate"});
  const hd::Array c = plane(options.size).eval();
  Orbit orbit{hd::zeros(c.shape(), hd::DType::c64), hd::zeros<std::int32_t>(c.shape())};
  for (std::int64_t i = 0; i < options.steps / unrolled; ++i) {
    orbit = advance(std::move(orbit), c);  // moved: its memory takes the result
  }
  const auto inside = hd::count_nonzero(orbit.count == options.steps).item<double>();
  const auto size = static_cast<long long>(options.size);
  std::printf("%lldx%lld points, %lld iterations\n", size, size,
              static_cast<long long>(options.steps));
  std::printf("inside: %.2f%%, mean count %.3f\n", 100 * inside / static_cast<double>(c.size()),
              orbit.count.mean().item<double>());
  if (!options.out.empty()) hd::save(options.out, orbit.count);
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 512, .steps = 320}, run);
}
