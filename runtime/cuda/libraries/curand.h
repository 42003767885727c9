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

/// The generators of cuRAND that Heddle offers.
enum class CurandKind : std::uint8_t {
  xorwow,
  mrg32k3a,
  philox,
  sobol32,
  scrambled_sobol32,
  sobol64,
  scrambled_sobol64
};
/// "xorwow" and so on; nullopt for another name.
std::optional<CurandKind> curand_kind(std::string_view name);
/// Whether it is one of the low-discrepancy sequences, which have dimensions.
constexpr bool is_quasirandom(CurandKind kind) { return kind >= CurandKind::sobol32; }

/// Why there is no cuRAND, with every place tried; empty where there is. Loads it; never throws.
const std::string& curand_unavailable_reason();

/// A generator of cuRAND, whose numbers go on from call to call: on a GPU in the stream's order, or
/// on the CPU by cuRAND's host generators. Thread-safe.
class CurandGenerator {
 public:
  /// `seed` of Sobol's sequences is how many points of each are left out. Throws DeviceError when
  /// the library is missing or fails, for instance for dimensions beyond 20,000.
  CurandGenerator(CurandKind kind, std::uint64_t seed, int dimensions, Device device);
  ~CurandGenerator();
  CurandGenerator(const CurandGenerator&) = delete;
  CurandGenerator& operator=(const CurandGenerator&) = delete;

  CurandKind kind() const { return kind_; }
  Device device() const { return device_; }
  /// What a call writes when `count` numbers are wanted: pseudo-random normals come in pairs.
  std::size_t written(std::size_t count) const {
    return count + (is_quasirandom(kind_) ? 0 : count % 2);
  }

  // Each writes written(count) numbers; those of Sobol's sequences dimension by dimension. Of a
  // stream of the generator's device. Throw DeviceError.

  /// In (0, 1], of f32 or f64.
  void uniform(void* out, DType dtype, std::size_t count, const Stream& stream);
  void normal(void* out, DType dtype, std::size_t count, double mean, double deviation,
              const Stream& stream);
  /// u64 of the 64-bit sequences, u32 of others.
  void bits(void* out, std::size_t count, const Stream& stream);
  DType bits_dtype() const { return kind_ >= CurandKind::sobol64 ? DType::u64 : DType::u32; }

 private:
  template <class Call>
  void generate(const Stream& stream, const char* name, const Call& call);

  const CurandKind kind_;
  const Device device_;
  const bool has_streams_;  ///< else it is one of cuRAND's host generators
  ir::Mutex mutex_;
  void* handle_ = nullptr;
  std::optional<Stream> stream_;  ///< of the last call
};

}  // namespace heddle::runtime
