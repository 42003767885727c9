#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "heddle/array.h"

namespace heddle::frontend {
struct BulkState;
}  // namespace heddle::frontend

namespace heddle::random {

/// A generator of NVIDIA's cuRAND, which fills whole arrays. For programs that need cuRAND's
/// numbers or Sobol sequences; others should use Generator (heddle/random.h), which fuses and needs
/// no library. Each call continues the sequence; a copy shares the state of the original. Numbers
/// are generated immediately, on the device that was current when the generator was made.
/// TraceError inside a trace, DeviceError if cuRAND fails.
class Bulk {
 public:
  std::string_view name() const;

  // `dtype` is f32 or f64 (DTypeError for others). For a sequence of several dimensions, the last
  // axis must have one element for each dimension: ShapeError otherwise.

  /// Uniform in (0, 1].
  Array uniform(const Shape& size = {}, DType dtype = DType::f64,
                SourceLocation where = SourceLocation::current());
  /// Normal; ValueError for a negative deviation.
  Array normal(double mean = 0, double deviation = 1, const Shape& size = {},
               DType dtype = DType::f64, SourceLocation where = SourceLocation::current());
  /// Random bits: u64 for sobol64 and scrambled_sobol64, u32 for the others.
  Array bits(const Shape& size = {}, SourceLocation where = SourceLocation::current());

 private:
  friend Bulk bulk(std::string_view, std::uint64_t, int, SourceLocation);
  explicit Bulk(std::shared_ptr<frontend::BulkState> state) : state_(std::move(state)) {}
  std::shared_ptr<frontend::BulkState> state_;
};

/// A cuRAND generator on the current device: "xorwow", "mrg32k3a", "philox", "sobol32",
/// "scrambled_sobol32", "sobol64" or "scrambled_sobol64". On the CPU it is cuRAND's host generator.
/// Sobol generators have 1 to 20,000 dimensions; their `seed` is the number of points to skip.
/// ValueError for an unknown name or number of dimensions. Without cuRAND, DeviceError with every
/// path that was tried.
Bulk bulk(std::string_view name, std::uint64_t seed = 0, int dimensions = 1,
          SourceLocation where = SourceLocation::current());

}  // namespace heddle::random
