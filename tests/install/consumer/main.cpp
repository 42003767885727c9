#include <cmath>
#include <cstdio>

#include <heddle/heddle.h>

namespace hd = heddle;

int main() {
  const hd::Array x = hd::array({0.0f, 0.5f, 1.0f, 1.5f}, {2, 2});
  const double sum = hd::sum(hd::tanh(x) * 2.0 + x).item<double>();
  const double expected = 2 * (std::tanh(0.5) + std::tanh(1.0) + std::tanh(1.5)) + 3.0;
  std::printf("sum is %.9f, expected %.9f\n", sum, expected);
  return std::abs(sum - expected) < 1e-5 ? 0 : 1;
}
