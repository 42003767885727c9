// Three filters of an image: a Gaussian, edges by Sobel, and the median of 3x3 pixels. Each is a
// few slices of a padded image, and becomes kernels that keep what they need in registers.

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

const hd::Slice first = hd::slice(-2), middle = hd::slice(1, -1), last = hd::slice(2, hd::none);

std::vector<double> gaussian_weights(int radius, double sigma) {
  std::vector<double> weights;
  double sum = 0;
  for (int k = -radius; k <= radius; ++k) {
    weights.push_back(std::exp(-k * k / (2 * sigma * sigma)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Discs and stripes, and a few pixels that are black or white by mistake.
hd::Array test_image(std::int64_t size) {
  const hd::Array place = hd::linspace(0.0, 1.0, size, true, hd::DType::f32);
  const hd::Array x = place(hd::newaxis, hd::_), y = place(hd::_, hd::newaxis);
  const hd::Array stripes = 0.5 + 0.25 * hd::sin(40 * x * (x + y));
  const hd::Array discs = hd::hypot((3 * x) % 1 - 0.5, (3 * y) % 1 - 0.5) < 0.3;
  const hd::Array image = hd::where(discs, 0.9 - 0.5 * y, stripes);
  const hd::Array index = hd::arange(size);
  hd::Array mixed = (index(hd::_, hd::newaxis) * 73856093) ^ (index(hd::newaxis, hd::_) * 19349663);
  mixed = (mixed ^ (mixed >> 13)) % 64;
  return hd::where(mixed == 0, 0.0, hd::where(mixed == 1, 1.0, image));
}

hd::Array blur_columns(const hd::Array& x) {
  static const std::vector<double> weights = gaussian_weights(6, 2.0);
  const hd::Array padded = hd::pad(x, {{6, 6}, {0, 0}}, "reflect");
  hd::Array sum = hd::zeros_like(x);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto start = static_cast<std::int64_t>(k);
    sum += weights[k] * padded(hd::slice(start, start + x.shape(0)));
  }
  return sum;
}

hd::Array gaussian(const hd::Array& x) { return blur_columns(blur_columns(x).T()).T(); }

hd::Array sobel(const hd::Array& x) {
  const hd::Array p = hd::pad(x, {{1, 1}}, "edge");
  const hd::Array right = p(hd::_, last) - p(hd::_, first);
  const hd::Array down = p(last) - p(first);
  const hd::Array gradient_x = right(first) + 2 * right(middle) + right(last);
  const hd::Array gradient_y = down(hd::_, first) + 2 * down(hd::_, middle) + down(hd::_, last);
  return hd::hypot(gradient_x, gradient_y) / 4;
}

/// Three images, such that each pixel is in order.
std::array<hd::Array, 3> ordered(const hd::Array& a, const hd::Array& b, const hd::Array& c) {
  const hd::Array low = hd::minimum(a, b), high = hd::maximum(a, b);
  return {hd::minimum(low, c), hd::maximum(low, hd::minimum(high, c)), hd::maximum(high, c)};
}

hd::Array median(const hd::Array& x) {
  const hd::Array p = hd::pad(x, {{1, 1}}, "edge");
  const auto columns = ordered(p(first), p(middle), p(last));
  std::array<std::array<hd::Array, 3>, 3> rows;  // of the lowest, middle and highest of a column
  for (std::size_t i = 0; i < 3; ++i) {
    const hd::Array& c = columns[i];
    rows[i] = ordered(c(hd::_, first), c(hd::_, middle), c(hd::_, last));
  }
  return ordered(rows[0][2], rows[1][1], rows[2][0])[1];
}

void run(const Options& options) {
  const hd::Array image = test_image(options.size);
  const hd::Array smooth = hd::jit(gaussian, {.name = "gaussian"})(image);
  const hd::Array clean = hd::jit(median, {.name = "median"})(image);
  const hd::Array edges = hd::jit(sobel, {.name = "sobel"})(clean);
  std::printf("image: mean %.5f, deviation %.5f\n", image.mean().item<double>(),
              image.std().item<double>());
  std::printf("gaussian: mean %.5f, deviation %.5f\n", smooth.mean().item<double>(),
              smooth.std().item<double>());
  std::printf("sobel: mean %.5f, highest %.5f\n", edges.mean().item<double>(),
              edges.max().item<double>());
  const hd::Array changed = hd::count_nonzero(hd::abs(clean - image) > 0.25);
  std::printf("median: mean %.5f, %lld pixels changed by over 0.25\n", clean.mean().item<double>(),
              changed.item<long long>());
  if (!options.out.empty()) hd::save(options.out, hd::stack({image, smooth, edges, clean}));
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, {.size = 512}, run); }
