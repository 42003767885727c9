// Logistic regression by gradient descent with momentum: two half moons, told apart by polynomials.

#include <cstdio>
#include <numbers>
#include <utility>
#include <vector>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

constexpr int degree = 4;

struct Model {
  hd::Array weights, momentum;
};
HEDDLE_STRUCT(Model, weights, momentum)

struct Data {
  hd::Array points;  // [n, 2]
  hd::Array labels;  // 0 or 1
};

/// Two half moons that reach into each other.
Data half_moons(std::int64_t count) {
  const hd::Array i = hd::arange(count);
  const hd::Array label = i % 2;
  const hd::Array angle = std::numbers::pi * ((i * 0.7548776662466927) % 1);
  const hd::Array radius = 1 + 1.1 * ((i * 0.5698402909980532) % 1 - 0.5);
  const hd::Array x = radius * hd::cos(angle), y = radius * hd::sin(angle);
  const hd::Array points = hd::stack(
      {hd::where(label == 0, x, 1 - x) - 0.5, hd::where(label == 0, y, 0.35 - y) - 0.2}, -1);
  return {points.astype<float>().eval(), label.astype<float>().eval()};
}

/// All products of powers of x and y up to the degree.
hd::Array features(const hd::Array& points) {
  const hd::Array x = points(hd::_, 0), y = points(hd::_, 1);
  std::vector<hd::Array> columns;
  for (int i = 0; i <= degree; ++i) {
    for (int j = 0; j <= degree - i; ++j) columns.push_back(hd::power(x, i) * hd::power(y, j));
  }
  return hd::stack(columns, -1);
}

hd::Array probability(const hd::Array& inputs, const hd::Array& weights) {
  return 1 / (1 + hd::exp(-hd::matmul(inputs, weights)));
}

/// The mean of -log p(label). log(1 + exp(-|z|)) cannot overflow.
hd::Array loss(const hd::Array& inputs, const hd::Array& labels, const hd::Array& weights) {
  const hd::Array z = hd::matmul(inputs, weights);
  return hd::mean(hd::maximum(z, 0) - z * labels + hd::log1p(hd::exp(-hd::abs(z))));
}

/// The gradient is that of the loss, and of a small penalty for large weights.
Model step(Model model, const hd::Array& inputs, const hd::Array& labels, const hd::Array& rate) {
  const hd::Array error = probability(inputs, model.weights) - labels;
  const hd::Array gradient = hd::matmul(error, inputs) / inputs.shape(0) + 1e-5 * model.weights;
  model.momentum = 0.9 * model.momentum - rate * gradient;
  model.weights += model.momentum;
  return model;
}

void run(const Options& options) {
  const auto descend = hd::jit(step, {.name = "step"});
  const auto loss_of = hd::jit(loss, {.name = "loss"});
  const auto [points, labels] = half_moons(options.size);
  const hd::Array inputs = features(points).eval();
  const std::int64_t count = inputs.shape(1);
  Model model{hd::zeros<float>({count}), hd::zeros<float>({count})};
  std::printf("%lld features, loss %.5f\n", static_cast<long long>(count),
              loss_of(inputs, labels, model.weights).item<double>());
  for (std::int64_t i = 0; i < options.steps; ++i) {
    model = descend(std::move(model), inputs, labels, 0.5);
  }
  const hd::Array right = hd::mean((hd::matmul(inputs, model.weights) > 0) == (labels > 0.5));
  std::printf("after %lld steps: loss %.5f, %.2f%% right\n", static_cast<long long>(options.steps),
              loss_of(inputs, labels, model.weights).item<double>(), 100 * right.item<double>());
  if (!options.out.empty()) {
    const hd::Array place = hd::linspace(-2.0, 2.0, 200, true, hd::DType::f32);
    const hd::Array grid = hd::stack(hd::meshgrid({place, place}), -1).reshape({-1, 2});
    hd::save(options.out, probability(features(grid), model.weights).reshape({200, 200}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 20'000, .steps = 1000}, run);
}
