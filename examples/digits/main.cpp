// Classifies handwritten digits by their nearest neighbour: one broadcast expression, whose
// three-dimensional difference of every test image with every training image never exists.

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

#include <heddle/heddle.h>

namespace hd = heddle;

namespace {

hd::Array nearest(const hd::Array& test, const hd::Array& train) {
  const hd::Array difference = test(hd::_, hd::newaxis, hd::_) - train(hd::newaxis, hd::_, hd::_);
  return hd::argmin(hd::sum(difference * difference, -1), -1);
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

int run(const std::string& folder) {
  const hd::Array images = hd::load(folder + "/digits.npy").astype<float>().eval();
  const hd::Array labels = hd::load(folder + "/labels.npy").astype<std::int64_t>();
  const std::int64_t train_count = images.shape(0) * 2 / 3;
  const hd::Array train = images(hd::slice(train_count)).eval();
  const hd::Array test = images(hd::slice(train_count, hd::none)).eval();

  const auto classify = hd::jit(nearest, {.name = "nearest"});
  std::cout << "device: " << hd::device() << "\n\n" << classify.ir(test, train) << "\n";

  const auto cold = std::chrono::steady_clock::now();
  hd::Array neighbour = classify(test, train);
  hd::synchronize();
  std::cout << "first call: " << milliseconds_since(cold)
            << " ms, with tracing and compiling or the cache\n";
  std::cout << "kernels: " << classify.kernel_count(test, train) << "\n";
  const auto warm = std::chrono::steady_clock::now();
  neighbour = classify(test, train);
  hd::synchronize();
  std::cout << "second call: " << milliseconds_since(warm) << " ms for " << test.shape(0)
            << " images against " << train.shape(0) << "\n";

  const std::vector<std::int64_t> found = neighbour.to_vector<std::int64_t>();
  const std::vector<std::int64_t> digit = labels.to_vector<std::int64_t>();
  std::int64_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    right += digit[static_cast<std::size_t>(found[i])] ==
             digit[static_cast<std::size_t>(train_count) + i];
  }
  const double accuracy = static_cast<double>(right) / static_cast<double>(found.size());
  std::cout << "accuracy: " << 100 * accuracy << "% (" << right << " of " << found.size() << ")\n";
  return accuracy > 0.9 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : EXAMPLE_FOLDER);
  } catch (const std::exception& error) {
    std::cerr << "digits: " << error.what() << "\n";
    return 1;
  }
}
