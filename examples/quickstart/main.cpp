// A tour: arrays are recorded, fused and computed when somebody looks at them.

#include <iostream>

#include <heddle/heddle.h>

namespace hd = heddle;

namespace {

struct Particles {
  hd::Array position, velocity;
};
HEDDLE_STRUCT(Particles, position, velocity)

/// A spring pulls every particle to the origin.
Particles step(Particles state, const hd::Array& dt) {
  state.velocity = state.velocity - state.position * dt;
  state.position = state.position + state.velocity * dt;
  return state;
}

hd::Array softmax(const hd::Array& x) {
  const hd::Array e = hd::exp(x - hd::max(x, -1, true));
  return e / hd::sum(e, -1, true);
}

}  // namespace

int main() {
  // Lazy: nothing runs until the print, and then as few kernels as can be.
  const hd::Array x = hd::linspace(0.0f, 1.0f, 12).reshape({3, 4});
  hd::Array y = hd::sin(x) * 2.0 + x.T().reshape({3, 4});
  y.at(y > 2.0f) = 2.0f;
  std::cout << "y =\n" << y << "\ny[::2, 1] = " << y(hd::slice(hd::none, hd::none, 2), 1) << "\n\n";

  // Traced once, compiled once, then only launched. Structs of arrays pass in and out.
  const auto advance = hd::jit(step);
  Particles particles{hd::ones<float>({3}), hd::zeros<float>({3})};
  for (int i = 0; i < 1000; ++i) particles = advance(std::move(particles), 0.001 * (i % 2 + 1));
  std::cout << "position after 1000 steps: " << particles.position << "\n\n";

  // What a function becomes, from abstract shapes: no data and no GPU is needed. cuda() has the
  // generated source.
  const hd::Lowered lowered = hd::jit(softmax).lower({hd::spec<float>({"n", 64})});
  std::cout << lowered.ir() << "\n" << lowered.explain() << "\n";
}
