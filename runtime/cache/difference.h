#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime::cache {

/// A field that differs between two keys, with both values; nullopt if a key lacks the field.
struct FieldDifference {
  std::string name;
  std::optional<std::string> wanted, found;
  /// "target ('sm_90' is wanted, it has 'sm_80')". For values of several lines, the first line that
  /// differs.
  std::string to_string() const;
};

/// Compares the texts of two keys. Fields of the same name are compared in order.
std::vector<FieldDifference> differences(std::string_view wanted, std::string_view found);

/// Distance between two keys, from their differences. Every field counts. A multi-line value counts
/// more the less similar the two texts are, and least if they differ only in numbers, such as
/// extents.
double distance(std::span<const FieldDifference> differences);

}  // namespace heddle::runtime::cache
