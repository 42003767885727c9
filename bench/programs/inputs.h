#pragma once

#include <cstdint>

#include <heddle/heddle.h>

namespace heddle::bench {

/// An array of values in [low, high) made on the device. The host can compute any single element
/// with the same bits: a float32 number, or its conversion to another dtype.
struct Input {
  Shape shape;
  float low = 0.1f, high = 1.0f;
  DType dtype = DType::f32;
  std::uint32_t seed = 0;

  Array make() const;
  double operator[](std::int64_t element) const;
  std::int64_t size() const;
  std::int64_t bytes() const;
};

}  // namespace heddle::bench
