#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/base/hash.h"

namespace heddle::runtime::cache {

/// Cache entries in one file, to ship with an application. Format: "HEDDLEB\n", then for each entry
/// its length in eight little-endian bytes and the bytes of its file.
class Bundle {
 public:
  /// Parses a file's bytes, without a signature; `path` is for messages. Throws FileError if they
  /// are not a bundle. Entries are checked only when they are used.
  Bundle(std::string bytes, const std::string& path);

  const std::string& path() const { return path_; }
  /// The bytes of an entry's file; empty if there is none.
  std::string_view find(const ir::Hash128& key) const;
  std::size_t size() const { return places_.size(); }
  /// The bytes of every entry's file, in order.
  std::vector<std::string_view> entries() const;

 private:
  struct Place {
    std::uint64_t begin = 0, bytes = 0;
  };
  std::string bytes_, path_;
  std::vector<Place> order_;
  std::unordered_map<ir::Hash128, Place, ir::Hash128Hasher> places_;
};

/// Whether to accept files that other users may have written.
enum class Foreign : bool { refused, taken };

/// Reads a file that ships with an application and contains native code to be executed. Throws
/// FileError if it cannot be read or is not a regular file. Throws TrustError if users other than
/// this one and root may have written it or may write to its folder, unless `foreign` or
/// HEDDLE_CACHE_TRUST=1 accepts such files. If HEDDLE_CACHE_KEY is set, the only condition is that
/// the file is signed with that key.
std::string read_shipped(const std::string& path, Foreign foreign = Foreign::refused);

/// File mode of shipped files: readable by everybody.
inline constexpr unsigned shipped_mode = 0644;
/// Writes a shipped file, signed if HEDDLE_CACHE_KEY is set: first to a temporary file beside
/// `path`, which is renamed to `path` once it is on disk. Throws FileError, TrustError.
void write_shipped(const std::string& path, std::string bytes, unsigned mode = shipped_mode);

/// Encodes a bundle.
std::string encode_bundle(const std::vector<std::string>& entries);

}  // namespace heddle::runtime::cache
