#include "bench/programs/inputs.h"

#include <cmath>

namespace heddle::bench {

namespace {

constexpr float step = 0x1p-24f;

/// A hash of 24 bits that depends on all bits of the index, so that sorts find no pattern. T is an
/// Array of u32 or a number.
template <class T>
T mixed(T bits) {
  bits = bits * 2654435761u;
  bits = (bits ^ (bits >> 15u)) * 2246822519u;
  return (bits ^ (bits >> 13u)) >> 8u;
}

}  // namespace

Array Input::make() const {
  // Strict mode, so that product and sum are rounded as on the host.
  static const auto fill = jit(
      [](const Array& index, const Array& seed, const Array& low, const Array& span) {
        return low + span * (mixed<Array>(index + seed).astype<float>() * step);
      },
      {.name = "fill", .strict = true});
  const Array index = arange<std::uint32_t>(static_cast<std::uint32_t>(size()));
  const Array made = fill(index, array(seed), array(low), array(high - low)).reshape(shape);
  return dtype == DType::f32 ? made.eval() : made.astype(dtype).eval();
}

double Input::operator[](std::int64_t element) const {
  const std::uint32_t bits = mixed(static_cast<std::uint32_t>(element) + seed);
  const float scaled = (high - low) * (static_cast<float>(bits) * step);
  const float value = low + scaled;
  if (is_integer(dtype)) return std::trunc(value);
  return dtype == DType::f16 ? static_cast<float>(float16_t(value)) : value;
}

std::int64_t Input::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t Input::bytes() const { return size() * static_cast<std::int64_t>(size_of(dtype)); }

}  // namespace heddle::bench
