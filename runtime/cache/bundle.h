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
  /// Throws FileError where the file cannot be read or is no bundle. Entries are checked when they
  /// are used.
  explicit Bundle(const std::string& path);
  /// The same of a file's bytes; `path` is for messages.
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

/// The bytes of a file that ships with an application. Throws FileError.
std::string read_shipped(const std::string& path);
/// Writes such a file beside `path` and renames it to that. Throws FileError.
void write_shipped(const std::string& path, std::string_view bytes);

/// The bytes of a bundle.
std::string encode_bundle(const std::vector<std::string>& entries);
/// Writes a bundle. Throws FileError.
void write_bundle(const std::string& path, const std::vector<std::string>& entries);

}  // namespace heddle::runtime::cache
