#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime::cache {

/// A field in which a key differs from another, as the two have it; none where one has no such
/// field.
struct FieldDifference {
  std::string name;
  std::optional<std::string> wanted, found;
  /// "target ('sm_90' is wanted, it has 'sm_80')"; of several lines, the first that differs.
  std::string to_string() const;
};

/// Of two keys' texts. Fields of one name are compared in order.
std::vector<FieldDifference> differences(std::string_view wanted, std::string_view found);

/// How far apart that puts them: each field counts, and a text of several lines more the less it is
/// like the other, where other numbers, of extents say, matter least.
double distance(std::span<const FieldDifference> differences);

}  // namespace heddle::runtime::cache
