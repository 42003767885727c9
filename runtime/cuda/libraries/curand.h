#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heddle/dtype.h"

#include "ir/base/fork_gate.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

/// cuRAND generators that Heddle offers.
enum class CurandKind : std::uint8_t {
  xorwow,
  mrg32k3a,
  philox,
  sobol32,
  scrambled_sobol32,
  sobol64,
  scrambled_sobol64
};
/// Parses "xorwow" and so on; nullopt for another name.
std::optional<CurandKind> curand_kind(std::string_view name);
/// Whether it is a quasirandom (low-discrepancy) sequence, which has dimensions.
constexpr bool is_quasirandom(CurandKind kind) { return kind >= CurandKind::sobol32; }

/// Why cuRAND is unavailable, with every location tried; empty if it is available. Loads it; never
/// throws.
const std::string& curand_unavailable_reason();

/// A cuRAND generator. Its sequence continues from call to call: on a GPU in the stream's order, or
/// on the CPU with cuRAND's host generators. Thread-safe.
class CurandGenerator {
 public:
  /// For Sobol sequences, `seed` is the number of points to skip in each. Throws DeviceError if the
  /// library is missing or fails, for instance for more than 20,000 dimensions.
  CurandGenerator(CurandKind kind, std::uint64_t seed, int dimensions, Device device);
  ~CurandGenerator();
  CurandGenerator(const CurandGenerator&) = delete;
  CurandGenerator& operator=(const CurandGenerator&) = delete;

  CurandKind kind() const { return kind_; }
  Device device() const { return device_; }
  /// Number of values that a call writes for `count` requested ones: pseudo-random normals are
  /// generated in pairs.
  std::size_t written(std::size_t count) const {
    return count + (is_quasirandom(kind_) ? 0 : count % 2);
  }

  // Each writes written(count) numbers; Sobol sequences one dimension after another. The stream
  // must be of the generator's device. Throw DeviceError.

  /// Uniform in (0, 1], as f32 or f64.
  void uniform(void* out, DType dtype, std::size_t count, const Stream& stream);
  void normal(void* out, DType dtype, std::size_t count, double mean, double deviation,
              const Stream& stream);
  /// u64 for the 64-bit sequences, u32 for others.
  void bits(void* out, std::size_t count, const Stream& stream);
  DType bits_dtype() const { return kind_ >= CurandKind::sobol64 ? DType::u64 : DType::u32; }

 private:
  template <class Call>
  void generate(const Stream& stream, const char* name, const Call& call);

  const CurandKind kind_;
  const Device device_;
  const bool has_streams_;  ///< false: one of cuRAND's host generators
  ir::Mutex mutex_;
  void* handle_ = nullptr;
  std::optional<Stream> stream_;  ///< of the last call
};

}  // namespace heddle::runtime
