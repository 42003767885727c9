#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::ir {

/// Bytes that text such as "4096", "512M" or "2G" says (K is 1024); nullopt for anything else.
std::optional<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace heddle::ir
