// A small scene by ray marching: each ray goes as far as the nearest thing is away, again and
// again. Vectors are structs of three arrays, so that their lengths are arithmetic and not
// reductions.

#include <array>
#include <cstdio>
#include <vector>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

constexpr int unrolled = 8;
constexpr double far = 12.0;

struct Vec {
  hd::Array x, y, z;
};
HEDDLE_STRUCT(Vec, x, y, z)

/// A constant vector.
struct Constant {
  double x, y, z;
};
constexpr Constant eye{0.0, 1.4, -4.0}, sun{-0.48, 0.64, -0.6};

template <class A>
Vec operator+(const A& a, const Vec& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
Vec operator*(const Vec& a, const hd::Array& b) { return {a.x * b, a.y * b, a.z * b}; }
Vec operator*(const Constant& a, const hd::Array& b) { return {a.x * b, a.y * b, a.z * b}; }
template <class B>
hd::Array dot(const Vec& a, const B& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Distances to the floor, to a ball and to a ring.
std::array<hd::Array, 3> things(const Vec& p) {
  using hd::square;
  const hd::Array ball = hd::sqrt(square(p.x) + square(p.y - 0.9) + square(p.z)) - 0.6;
  const hd::Array across = hd::hypot(p.x, p.z) - 1.3, above = p.y - 0.3 - 0.2 * p.x;
  return {p.y + 0.3, ball, hd::sqrt(square(across) + square(above)) - 0.18};
}

hd::Array distance(const Vec& p) {
  const auto [floor, ball, ring] = things(p);
  return hd::minimum(floor, hd::minimum(ball, ring));
}

/// Their directions, from the eye through the pixels.
Vec rays(std::int64_t size) {
  const hd::Array place = hd::linspace(-1.0, 1.0, size, true, hd::DType::f32);
  const std::vector<hd::Array> grid = hd::meshgrid({place, -place - 0.25});
  const hd::Array &x = grid[0], &y = grid[1];
  const hd::Array length = hd::sqrt(hd::square(x) + hd::square(y) + 2.25);
  return {x / length, y / length, 1.5 / length};
}

hd::Array march(hd::Array t, const Vec& ray) {
  for (int i = 0; i < unrolled; ++i) t = hd::minimum(t + distance(eye + ray * t), far);
  return t;
}

/// The picture: sunlight, soft shadows, and haze towards the horizon.
hd::Array shade(const hd::Array& t, const Vec& ray) {
  const Vec p = eye + ray * t;
  const hd::Array here = distance(p);
  const double h = 1e-3;
  const Vec slope{distance(Constant{h, 0, 0} + p) - here, distance(Constant{0, h, 0} + p) - here,
                  distance(Constant{0, 0, h} + p) - here};
  hd::Array light = hd::maximum(dot(slope, sun) / hd::sqrt(dot(slope, slope) + 1e-12), 0);
  hd::Array way = hd::full_like(t, 0.03);
  for (int i = 0; i < 16; ++i) {
    const hd::Array gap = distance(p + sun * way);
    light = hd::minimum(light, hd::maximum(10 * gap / way, 0));
    way += hd::clip(gap, 0.02, 0.3);
  }
  const auto [floor, ball, ring] = things(p);
  const hd::Array dark = hd::full_like(t, 0.35);  // float32: where() of two numbers is float64
  const hd::Array tiles = hd::where((hd::floor(2 * p.x) + hd::floor(2 * p.z)) % 2 == 0, 0.9, dark);
  const hd::Array haze = hd::power(hd::minimum(t / far, 1), 3);
  const std::array<double, 3> on_ball{0.9, 0.35, 0.2}, on_ring{0.2, 0.5, 0.9}, sky{0.75, 0.85, 1.0};
  std::vector<hd::Array> picture;
  for (std::size_t i = 0; i < 3; ++i) {
    const hd::Array color =
        hd::where(floor < hd::minimum(ball, ring), tiles,
                  hd::where(ball < ring, on_ball[i], hd::full_like(t, on_ring[i])));
    picture.push_back(color * (0.15 + 0.85 * light) * (1 - haze) + sky[i] * haze);
  }
  return hd::stack(picture, -1);
}

void run(const Options& options) {
  const auto advance = hd::jit(march, {.name = "march"});
  const Vec ray = rays(options.size);
  hd::Array t = hd::zeros_like(ray.x);
  for (std::int64_t i = 0; i < options.steps / unrolled; ++i) t = advance(std::move(t), ray);
  const hd::Array picture = hd::jit(shade, {.name = "shade"})(t, ray);
  const auto size = static_cast<long long>(options.size);
  std::printf("%lldx%lld rays, mean distance %.4f, %.2f%% meet a thing\n", size, size,
              t.mean().item<double>(), 100 * hd::mean(t < far).item<double>());
  const std::vector<double> mean = picture.mean({0, 1}).to_vector<double>();
  std::printf("mean color: %.4f %.4f %.4f\n", mean[0], mean[1], mean[2]);
  if (!options.out.empty()) {
    hd::save(options.out, hd::round(255 * picture).astype<std::uint8_t>());
  }
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, {.size = 512, .steps = 64}, run); }
