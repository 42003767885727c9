#include <heddle/heddle.h>

namespace hd = heddle;

/// What a program gets of Heddle through this library: lazily, jitted, and multiplied; 1404.
extern "C" double plugin_compute() {
  static const auto twice = hd::jit([](const hd::Array& a) { return a * 2.0f; });
  const hd::Array x = hd::arange(36.0f).reshape({6, 6});
  const hd::Array y = hd::sort(twice(x), 1) + 1.0f;
  return static_cast<double>(hd::sum(y).item<float>()) +
         static_cast<double>(hd::matmul(x, x)(0, 0).item<float>()) - 222;
}
