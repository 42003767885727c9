#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::ir {

/// The number of bytes in a text such as "4096", "512M" or "2G" (K is 1024); nullopt for any other
/// text.
std::optional<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace heddle::ir
