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
  algorithm = 5,  ///< the algorithm chosen by a library for a matrix product
  uncompiled = 6  ///< nothing: a process has run the program uncompiled
};

/// The content of one cache file.
struct Entry {
  PayloadKind kind = PayloadKind::program;
  std::string key_text;  ///< text of the Key that the entry is stored under
  std::string facts;     ///< JSON: facts for launches, and the versions that built the entry
  std::string payload;
};

/// Incremented when the file layout or the meaning of its content changes.
inline constexpr std::uint32_t format_version = 1;

/// Layout of the file:
///   8  magic "HEDDLEC\n"
///   4  format version          4  payload kind
///   8  bytes of key text       8  bytes of facts       8  bytes of payload
///   16 XXH3-128 of everything before and after it, in that order
///   key text, facts, payload
/// Numbers are little-endian.
inline constexpr std::size_t header_bytes = 56;

std::string encode(const Entry& entry);

/// nullopt for bytes that encode did not produce. Safe for arbitrary input.
std::optional<Entry> decode(std::string_view bytes);

/// Whether a file of `file_bytes` that begins with `prefix`, signed or not, may be an entry: its
/// header is valid, and its parts fill the file.
bool begins_as_entry(std::string_view prefix, std::uint64_t file_bytes);

/// The key text of a file of `file_bytes` that begins with `prefix`, without verifying the
/// checksum; for listings. nullopt if the prefix is too short or not a valid header.
std::optional<std::string> peek_key_text(std::string_view prefix, std::uint64_t file_bytes);

}  // namespace heddle::runtime::cache
