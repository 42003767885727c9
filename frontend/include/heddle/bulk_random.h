#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "heddle/array.h"

namespace heddle::frontend {
struct BulkState;
}  // namespace heddle::frontend

namespace heddle::random {

/// A generator of NVIDIA's cuRAND, which fills whole arrays: for programs that need that library's
/// numbers, or Sobol's sequences. Generator (heddle/random.h) fuses, needs no library, and is what
/// others should use. Numbers go on from call to call, and a copy shares its original's. They are
/// made at once, on the device that was current when the generator was made; TraceError inside a
/// trace, DeviceError where cuRAND fails.
class Bulk {
 public:
  std::string_view name() const;

  // `dtype` is f32 or f64 (DTypeError for others). Of sequences of several dimensions the last
  // axis has one element for each: ShapeError for another size.

  /// Uniform in (0, 1].
  Array uniform(const Shape& size = {}, DType dtype = DType::f64,
                SourceLocation where = SourceLocation::current());
  /// Normal; ValueError for a negative deviation.
  Array normal(double mean = 0, double deviation = 1, const Shape& size = {},
               DType dtype = DType::f64, SourceLocation where = SourceLocation::current());
  /// Random bits: u64 of sobol64 and scrambled_sobol64, u32 of others.
  Array bits(const Shape& size = {}, SourceLocation where = SourceLocation::current());

 private:
  friend Bulk bulk(std::string_view, std::uint64_t, int, SourceLocation);
  explicit Bulk(std::shared_ptr<frontend::BulkState> state) : state_(std::move(state)) {}
  std::shared_ptr<frontend::BulkState> state_;
};

/// cuRAND's generator "xorwow", "mrg32k3a", "philox", "sobol32", "scrambled_sobol32", "sobol64" or
/// "scrambled_sobol64" on the current device; on the CPU it is cuRAND's host generator. Sobol's
/// have dimensions, from 1 to 20,000, and instead of a seed the number of points to leave out.
/// ValueError for another name or number of dimensions; DeviceError, with every place tried, where
/// there is no cuRAND.
Bulk bulk(std::string_view name, std::uint64_t seed = 0, int dimensions = 1,
          SourceLocation where = SourceLocation::current());

}  // namespace heddle::random
