#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/hash.h"

namespace heddle::runtime::cache {

/// What an entry is found by: the hash names its file, and the text, which says everything that
/// the entry depends on, is compared when the file is read.
struct Key {
  ir::Hash128 hash;
  std::string text;
};

/// Collects named fields in order. Each is written with its length, so that no two different
/// lists of fields give the same text.
class KeyBuilder {
 public:
  KeyBuilder& add(std::string_view name, std::string_view value);
  KeyBuilder& add(std::string_view name, std::int64_t value);
  Key finish() const;

 private:
  std::string text_;
};

/// The fields of a key's text, as names and values; empty for text that no KeyBuilder made.
std::vector<std::pair<std::string, std::string>> parse_key(std::string_view text);

}  // namespace heddle::runtime::cache
