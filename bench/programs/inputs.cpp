#include "bench/programs/inputs.h"

namespace heddle::bench {

namespace {

constexpr std::uint32_t multiplier = 2654435761u;
constexpr float step = 0x1p-24f;

}  // namespace

Array Input::make() const {
  // Strict, so that the product and the sum round as they do on the host.
  static const auto fill = jit(
      [](const Array& index, const Array& seed, const Array& low, const Array& span) {
        const Array mixed = (index + seed) * multiplier;
        const Array spread = (mixed ^ (mixed >> 15u)) >> 8u;
        return low + span * (spread.astype<float>() * step);
      },
      {.name = "fill", .strict = true});
  const Array index = arange<std::uint32_t>(static_cast<std::uint32_t>(size()));
  return fill(index, array(seed), array(low), array(high - low)).reshape(shape).eval();
}

double Input::operator[](std::int64_t element) const {
  const std::uint32_t mixed = (static_cast<std::uint32_t>(element) + seed) * multiplier;
  const std::uint32_t spread = (mixed ^ (mixed >> 15)) >> 8;
  const float scaled = (high - low) * (static_cast<float>(spread) * step);
  return low + scaled;
}

std::int64_t Input::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

}  // namespace heddle::bench
