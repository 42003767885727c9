#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/hash.h"

namespace heddle::runtime::cache {

/// The key of an entry. The hash gives the file name. The text lists everything that the entry
/// depends on; it is compared when the file is read.
struct Key {
  ir::Hash128 hash;
  std::string text;
};

/// Collects named fields in order. Each is written with its length, so that different lists of
/// fields always give different texts.
class KeyBuilder {
 public:
  KeyBuilder& add(std::string_view name, std::string_view value);
  KeyBuilder& add(std::string_view name, std::int64_t value);
  Key finish() const;

 private:
  std::string text_;
};

/// Parses a key's text into names and values; empty for text that no KeyBuilder made.
std::vector<std::pair<std::string, std::string>> parse_key(std::string_view text);

}  // namespace heddle::runtime::cache
