// k-means: a step is a broadcast difference of all points with all centres, reduced twice. The
// arrays of points x centres never exist: each becomes part of the reduction that reads it.

#include <cstdio>
#include <numbers>
#include <tuple>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

constexpr std::int64_t clusters = 6;

/// Six clouds on a circle. Fractions of multiples of irrational numbers fill them evenly.
hd::Array clouds(std::int64_t count) {
  const double circle = 2 * std::numbers::pi;
  const hd::Array i = hd::arange(count);
  const hd::Array cloud = i % clusters;
  const hd::Array radius = (0.15 + 0.04 * cloud) * ((i * 0.7548776662466927) % 1);
  const hd::Array turn = circle * ((i * 0.5698402909980532) % 1);
  const hd::Array around = circle / clusters * cloud;
  const hd::Array x = 0.6 * hd::cos(around) + radius * hd::cos(turn);
  const hd::Array y = 0.6 * hd::sin(around) + radius * hd::sin(turn);
  return hd::stack({x, y}, -1).astype<float>();
}

/// What a step returns: the nearest centre of each point, the mean square distance, and the centres
/// of mass.
struct Clustering {
  hd::Array labels, spread, centers;
};
HEDDLE_STRUCT(Clustering, labels, spread, centers)

Clustering step(const hd::Array& points, const hd::Array& centers) {
  const hd::Array away = points(hd::_, hd::newaxis, hd::_) - centers(hd::newaxis, hd::_, hd::_);
  const hd::Array distance2 = hd::sum(away * away, -1);
  const hd::Array labels = hd::argmin(distance2, -1);
  const hd::Array member = labels(hd::_, hd::newaxis) == hd::arange(clusters);
  const hd::Array counts = hd::sum(member, 0)(hd::_, hd::newaxis);
  const hd::Array sums = hd::sum(
      hd::where(member(hd::_, hd::_, hd::newaxis), points(hd::_, hd::newaxis, hd::_), 0), 0);
  const hd::Array means = (sums / hd::maximum(counts, 1)).astype<float>();
  return {labels, hd::mean(hd::min(distance2, -1)), hd::where(counts > 0, means, centers)};
}

void run(const Options& options) {
  const auto improve = hd::jit(step, {.name = "step"});
  const hd::Array points = clouds(options.size).eval();
  const hd::Array start = points(hd::slice(0, 3 * clusters, 3));  // all of two clouds
  Clustering found = improve(points, start);
  std::printf("first step: mean square distance %.5f\n", found.spread.item<double>());
  for (std::int64_t i = 1; i < options.steps; ++i) found = improve(points, found.centers);
  std::printf("step %lld: mean square distance %.5f\n", static_cast<long long>(options.steps),
              found.spread.item<double>());
  std::printf("sizes:");
  const hd::Array sizes = hd::bincount(found.labels, clusters);
  for (const long long size : sizes.to_vector<long long>()) std::printf(" %lld", size);
  std::printf("\n");
  if (!options.out.empty()) hd::save(options.out, hd::column_stack({points, found.labels}));
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 200'000, .steps = 30}, run);
}
