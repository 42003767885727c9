// LeNet on handwritten digits: two convolutions with pooling, two dense layers, and their gradients
// written by hand with heddle/nnet.h.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;
namespace nnet = heddle::nnet;

namespace {

constexpr std::int64_t batch = 128;

struct Weights {
  hd::Array filters1, bias1, filters2, bias2, dense3, bias3, dense4, bias4;
};
HEDDLE_STRUCT(Weights, filters1, bias1, filters2, bias2, dense3, bias3, dense4, bias4)

/// The function of each array of two, a and b.
template <class Function>
Weights map(const Function& function, const Weights& a, const Weights& b) {
  return {function(a.filters1, b.filters1), function(a.bias1, b.bias1),
          function(a.filters2, b.filters2), function(a.bias2, b.bias2),
          function(a.dense3, b.dense3),     function(a.bias3, b.bias3),
          function(a.dense4, b.dense4),     function(a.bias4, b.bias4)};
}

Weights initial(std::uint64_t seed) {
  hd::random::Generator random(seed);
  const auto normal = [&](const hd::Shape& shape) {
    std::int64_t fan_in = shape[0];
    if (shape.size() == 4) fan_in = shape[1] * shape[2] * shape[3];
    const double scale = std::sqrt(2.0 / static_cast<double>(fan_in));
    return (random.normal(0, 1, shape) * scale).astype<float>().eval();
  };
  const auto zeros = [](std::int64_t count) { return hd::zeros<float>({count}); };
  Weights made;
  made.filters1 = normal({16, 1, 3, 3}), made.bias1 = zeros(16);
  made.filters2 = normal({32, 16, 3, 3}), made.bias2 = zeros(32);
  made.dense3 = normal({128, 96}), made.bias3 = zeros(96);
  made.dense4 = normal({96, 10}), made.bias4 = zeros(10);
  return made;
}

hd::Array channels(const hd::Array& bias) { return bias(hd::_, hd::newaxis, hd::newaxis); }
hd::Array transposed(const hd::Array& x) { return hd::transpose(x); }

/// The layers. What the backward pass needs of the forward pass is kept in between.
class LeNet {
 public:
  hd::Array scores(const Weights& w, const hd::Array& images) {
    images_ = images;
    sum1_ = conv_.fprop(images, w.filters1) + channels(w.bias1);
    std::tie(pooled1_, mask1_) = pool_.fprop(nnet::relu(sum1_));
    sum2_ = conv_.fprop(pooled1_, w.filters2) + channels(w.bias2);
    hd::Array pooled2;
    std::tie(pooled2, mask2_) = pool_.fprop(nnet::relu(sum2_));
    flat_ = hd::reshape(pooled2, {-1, 128});
    sum3_ = hd::matmul(flat_, w.dense3) + w.bias3;
    hidden_ = nnet::relu(sum3_);
    return hd::matmul(hidden_, w.dense4) + w.bias4;
  }

  Weights gradients(const Weights& w, const hd::Array& scores_d) const {
    const hd::Array hidden_d = hd::matmul(scores_d, transposed(w.dense4)) * nnet::relu_d(sum3_);
    const hd::Array flat_d = hd::matmul(hidden_d, transposed(w.dense3));
    const hd::Array pooled2_d = hd::reshape(flat_d, {-1, 32, 2, 2});
    const hd::Array sum2_d = pool_.bprop({4, 4}, pooled2_d, mask2_) * nnet::relu_d(sum2_);
    const auto [filters2_d, pooled1_d] = conv_.bprop(pooled1_, w.filters2, sum2_d);
    const hd::Array sum1_d = pool_.bprop({8, 8}, pooled1_d, mask1_) * nnet::relu_d(sum1_);
    const auto [filters1_d, none] = conv_.bprop(images_, w.filters1, sum1_d, true, false);
    return {filters1_d,
            hd::sum(sum1_d, {0, 2, 3}),
            filters2_d,
            hd::sum(sum2_d, {0, 2, 3}),
            hd::matmul(transposed(flat_), hidden_d),
            hd::sum(hidden_d, 0),
            hd::matmul(transposed(hidden_), scores_d),
            hd::sum(scores_d, 0)};
  }

 private:
  nnet::ConvBC01 conv_{{1, 1}, {1, 1}};
  nnet::PoolB01 pool_{{2, 2}, {0, 0}, {2, 2}};
  hd::Array images_, sum1_, mask1_, pooled1_, sum2_, mask2_, flat_, sum3_, hidden_;
};

struct Trained {
  Weights weights, momentum;
  hd::Array loss;
};
HEDDLE_STRUCT(Trained, weights, momentum, loss)

/// One step of gradient descent with momentum.
Trained step(const Weights& weights, const Weights& momentum, const hd::Array& images,
             const hd::Array& labels, double rate) {
  LeNet net;
  const hd::Array probabilities = nnet::softmax(net.scores(weights, images));
  const hd::Array classes = nnet::one_hot_encode(labels, 10, hd::float32);
  const hd::Array loss = hd::mean(nnet::categorical_cross_entropy(probabilities, classes, 1e-7));
  const Weights gradients = net.gradients(weights, (probabilities - classes) / images.shape(0));
  const Weights pull =
      map([](const hd::Array& d, const hd::Array& w) { return d + 5e-4 * w; }, gradients, weights);
  const Weights moved = map(
      [&](const hd::Array& m, const hd::Array& d) { return 0.9 * m - rate * d; }, momentum, pull);
  return {map([](const hd::Array& w, const hd::Array& m) { return w + m; }, weights, moved), moved,
          loss};
}

hd::Array classify(const Weights& weights, const hd::Array& images) {
  return nnet::one_hot_decode(LeNet().scores(weights, images));
}

void run(const Options& options) {
  const std::string data = EXAMPLE_FOLDER "/../digits";
  const hd::Array all =
      hd::reshape(hd::load(data + "/digits.npy"), {-1, 1, 8, 8}).astype<float>() / 16;
  const hd::Array digits = hd::load(data + "/labels.npy").astype<std::int32_t>();
  const hd::Array held_out = hd::arange(all.shape(0)) % 5 == 4, rest = hd::logical_not(held_out);
  const hd::IndexItem some = hd::slice(options.size);
  const hd::Array images = all(rest)(some).eval(), labels = digits(rest)(some).eval();
  const hd::Array test_images = all(held_out).eval(), test_labels = digits(held_out).eval();

  hd::random::Generator random(7);
  Weights weights = initial(1);
  Weights momentum =
      map([](const hd::Array& w, const hd::Array&) { return hd::zeros_like(w); }, weights, weights);
  const auto train = hd::jit(step);
  const std::int64_t batches = images.shape(0) / batch;
  std::vector<double> losses;
  auto began = std::chrono::steady_clock::now();
  for (int epoch = 0; epoch < options.steps; ++epoch) {
    const hd::Array order = random.permutation(images.shape(0));
    const double rate = 0.05 * std::pow(0.93, epoch);
    hd::Array total = hd::array(0.0F);
    for (std::int64_t k = 0; k < batches; ++k) {
      const hd::Array chosen = order(hd::slice(k * batch, (k + 1) * batch));
      Trained next = train(weights, momentum, images(chosen), labels(chosen), rate);
      weights = std::move(next.weights), momentum = std::move(next.momentum);
      total = total + next.loss;
    }
    losses.push_back((total / batches).item<double>());
    if (epoch == 0) began = std::chrono::steady_clock::now();
  }
  const double took =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  const auto right =
      hd::sum(hd::jit(classify)(weights, test_images) == test_labels).item<std::int64_t>();
  const std::int64_t count = test_labels.shape(0);
  std::printf("loss %.3f in the first epoch, %.4f in epoch %zu\n", losses.front(), losses.back(),
              losses.size());
  std::printf("%lld of %lld held-out digits right: %.1f%%\n", static_cast<long long>(right),
              static_cast<long long>(count),
              100 * static_cast<double>(right) / static_cast<double>(count));
  if (!options.out.empty()) {
    hd::save(options.out, hd::array(losses));
  } else if (options.steps > 1) {
    std::printf("%.2f ms a step of %lld images\n",
                took / static_cast<double>((options.steps - 1) * batches),
                static_cast<long long>(batch));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 1438, .steps = 30}, run);
}
