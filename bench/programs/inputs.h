#pragma once

#include <cstdint>

#include <heddle/heddle.h>

namespace heddle::bench {

/// A float32 array of values in [low, high) that the device makes, and that the host can say one
/// element of, bit for bit.
struct Input {
  Shape shape;
  float low = 0.1f, high = 1.0f;
  std::uint32_t seed = 0;

  Array make() const;
  double operator[](std::int64_t element) const;
  std::int64_t size() const;
};

}  // namespace heddle::bench
