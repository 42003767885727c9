#include "runtime/launch/raw_module.h"

#include <algorithm>

namespace heddle::runtime {

void LaunchValues::add(const void* value, std::size_t bytes, bool integer) {
  constexpr std::size_t largest_scalar = 16;
  const std::size_t offset = bytes_.size();
  const auto* const from = static_cast<const char*>(value);
  bytes_.insert(bytes_.end(), from, from + bytes);
  bytes_.resize(offset + std::max(bytes, largest_scalar));
  slots_.push_back(
      {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes), integer});
}

LaunchValue LaunchValues::operator[](std::size_t i) const {
  const Slot& slot = slots_[i];
  return {{bytes_.data() + slot.offset, slot.bytes}, slot.integer};
}

ir::InlineVector<void*, 16> LaunchValues::pointers() const {
  ir::InlineVector<void*, 16> out;
  // The driver takes pointers that are not const, and only reads.
  for (const Slot& slot : slots_) out.push_back(const_cast<char*>(bytes_.data()) + slot.offset);
  return out;
}

}  // namespace heddle::runtime
