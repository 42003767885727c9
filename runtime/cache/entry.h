#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::runtime::cache {

enum class PayloadKind : std::uint32_t {
  program = 1,
  cubin = 2,
  ptx = 3,
  host_object = 4,
  algorithm = 5  ///< what a library has chosen for a matrix product
};

/// One file of the cache.
struct Entry {
  PayloadKind kind = PayloadKind::program;
  std::string key_text;  ///< of the Key that it is stored under
  std::string facts;     ///< JSON: launch facts, and what built the entry
  std::string payload;
};

/// Changes whenever the layout of the file, or the meaning of what is in it, does.
inline constexpr std::uint32_t format_version = 1;

/// The file's bytes:
///   8  magic "HEDDLEC\n"
///   4  format version          4  payload kind
///   8  bytes of key text       8  bytes of facts       8  bytes of payload
///   16 XXH3-128 of all that comes before and after it, in that order
///   key text, facts, payload
/// Numbers are little-endian.
inline constexpr std::size_t header_bytes = 56;

std::string encode(const Entry& entry);

/// nullopt for anything but the bytes that encode made, whatever they are.
std::optional<Entry> decode(std::string_view bytes);

/// Whether a file of `file_bytes` that begins with `prefix`, with a signature or without, may be an
/// entry: its header is one, and its parts fill the file.
bool begins_as_entry(std::string_view prefix, std::uint64_t file_bytes);

/// The key text of a file of `file_bytes` that starts with `prefix`, without checking the sum; for
/// listings. nullopt where the prefix is too short or no header.
std::optional<std::string> peek_key_text(std::string_view prefix, std::uint64_t file_bytes);

}  // namespace heddle::runtime::cache
