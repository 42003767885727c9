// Gravity between all pairs of bodies, by leapfrog steps. The differences of all pairs are arrays
// of bodies x bodies, written as in NumPy. They never exist: the three sums over them are one
// kernel. That is why x, y and z are rows: a sum over an axis of 3 would be a kernel of its own.

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

constexpr double softening = 0.05;

struct Bodies {
  hd::Array position;  // [3, n]
  hd::Array velocity;  // [3, n]
  hd::Array mass;      // [n]
};
HEDDLE_STRUCT(Bodies, position, velocity, mass)

/// A heavy body, and light ones that circle around it in a disc.
Bodies disc(std::int64_t count) {
  const hd::Array i = hd::arange<double>(static_cast<double>(count));
  const hd::Array radius = 0.2 + 0.8 * hd::sqrt(i / count);
  const hd::Array angle = i * (std::numbers::pi * (3 - std::sqrt(5.0)));
  const hd::Array x = radius * hd::cos(angle), y = radius * hd::sin(angle);
  const hd::Array z = 0.05 * hd::sin(7 * angle);
  const hd::Array speed = hd::sqrt((1 + 0.3 * hd::square(radius)) / radius);
  const hd::Array position = hd::stack({x, y, z});
  const hd::Array velocity =
      hd::stack({-speed * y / radius, speed * x / radius, hd::zeros<double>({count})});
  const hd::Array mass = hd::where(i == 0, 1.0, 0.3 / static_cast<double>(count));
  return {hd::where(i == 0, 0.0, position), hd::where(i == 0, 0.0, velocity), mass};
}

/// What leads from each body to each other, as x, y and z, and the square of its length.
struct Pairs {
  std::array<hd::Array, 3> away;
  hd::Array distance2;
};

Pairs pairs(const hd::Array& position) {
  Pairs result;
  for (int axis = 0; axis < 3; ++axis) {
    const hd::Array x = position(axis);
    result.away[axis] = x(hd::newaxis, hd::_) - x(hd::_, hd::newaxis);
  }
  const auto& [x, y, z] = result.away;
  result.distance2 = hd::square(x) + hd::square(y) + hd::square(z) + softening * softening;
  return result;
}

hd::Array acceleration(const hd::Array& position, const hd::Array& mass) {
  const auto [away, distance2] = pairs(position);
  const hd::Array pull = mass / (distance2 * hd::sqrt(distance2));
  return hd::stack(
      {hd::sum(pull * away[0], -1), hd::sum(pull * away[1], -1), hd::sum(pull * away[2], -1)});
}

Bodies step(Bodies bodies, const hd::Array& dt) {
  bodies.velocity += 0.5 * dt * acceleration(bodies.position, bodies.mass);
  bodies.position += dt * bodies.velocity;
  bodies.velocity += 0.5 * dt * acceleration(bodies.position, bodies.mass);
  return bodies;
}

hd::Array energy(const Bodies& bodies) {
  const hd::Array& mass = bodies.mass;
  const hd::Array kinetic = 0.5 * hd::sum(mass * hd::square(bodies.velocity));
  const hd::Array distance = hd::sqrt(pairs(bodies.position).distance2);
  const hd::Array potential = mass(hd::_, hd::newaxis) * mass(hd::newaxis, hd::_) / distance;
  return kinetic - 0.5 * (hd::sum(potential) - hd::sum(hd::square(mass)) / softening);
}

void run(const Options& options) {
  const auto advance = hd::jit(step, {.name = "step"});
  const auto energy_of = hd::jit(energy, {.name = "energy"});
  Bodies bodies = disc(options.size);
  std::printf("%lld bodies, energy %.6f\n", static_cast<long long>(options.size),
              energy_of(bodies).item<double>());
  for (std::int64_t i = 0; i < options.steps; ++i) bodies = advance(std::move(bodies), 0.01);
  const hd::Array spread = hd::sqrt(hd::mean(hd::sum(hd::square(bodies.position), 0)));
  std::printf("after %lld steps: energy %.6f, mean distance %.5f\n",
              static_cast<long long>(options.steps), energy_of(bodies).item<double>(),
              spread.item<double>());
  if (!options.out.empty()) {
    hd::save(options.out, hd::vstack({bodies.position, bodies.velocity}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 1024, .steps = 200}, run);
}
