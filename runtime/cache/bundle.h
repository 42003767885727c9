#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/base/hash.h"

namespace heddle::runtime::cache {

/// Entries in one file, to ship with an application: "HEDDLEB\n", then for each its length in eight
/// little-endian bytes and the bytes of its own file.
class Bundle {
 public:
  /// Of a file's bytes, without a signature; `path` is for messages. Throws FileError where they
  /// are no bundle. Entries are checked when they are used.
  Bundle(std::string bytes, const std::string& path);

  const std::string& path() const { return path_; }
  /// The bytes of an entry's file; empty where there is none.
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

/// Whether a file that others may have written is taken.
enum class Foreign : bool { refused, taken };

/// The content of a file with native code that ships with an application, which is to be executed.
/// Throws FileError where it cannot be read or is no regular file; TrustError where users besides
/// this one and root may have written it or may write to its folder, unless such files are taken
/// (HEDDLE_CACHE_TRUST=1 takes them too); with HEDDLE_CACHE_KEY set where that has not signed it,
/// and then only.
std::string read_shipped(const std::string& path, Foreign foreign = Foreign::refused);

/// What files that ship may be read by: everybody.
inline constexpr unsigned shipped_mode = 0644;
/// Writes such a file beside `path`, signed where HEDDLE_CACHE_KEY is set, and renames it to that
/// once it is on the disk. Throws FileError, TrustError.
void write_shipped(const std::string& path, std::string bytes, unsigned mode = shipped_mode);

/// The bytes of a bundle.
std::string encode_bundle(const std::vector<std::string>& entries);

}  // namespace heddle::runtime::cache
