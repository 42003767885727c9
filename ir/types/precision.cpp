#include "heddle/precision.h"

#include <algorithm>
#include <iterator>

namespace heddle {
namespace {

constexpr std::string_view names[] = {"ieee", "tf32", "bf16"};

}  // namespace

std::string_view name_of(Precision precision) { return names[static_cast<std::size_t>(precision)]; }

std::optional<Precision> precision_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<Precision>(found - std::begin(names));
}

}  // namespace heddle
