#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/source_location.h"

namespace heddle {

class Array;

/// An absent bound, as Python's None in a slice: hd::slice(hd::none, hd::none, -1) reverses.
inline constexpr std::nullopt_t none = std::nullopt;

/// start:stop:step. Bounds follow Python: negative ones count from the end, those out of range are
/// clipped, absent ones depend on the step's sign.
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};

/// [:stop]
constexpr Slice slice(std::optional<std::int64_t> stop) {
  return {std::nullopt, stop, std::nullopt};
}
/// [start:stop:step]
constexpr Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                      std::optional<std::int64_t> step = std::nullopt) {
  return {start, stop, step};
}

struct NewAxis {};
struct Ellipsis {};

/// A whole axis: x(hd::_, 0) is x[:, 0].
inline constexpr Slice _{};
/// A new axis of extent 1.
inline constexpr NewAxis newaxis{};
/// As many whole axes as are left.
inline constexpr Ellipsis ellipsis{};

/// One subscript of x(...): an integer, a slice, hd::newaxis, hd::ellipsis, or an array. Arrays of
/// integers pick elements, several together after broadcasting, as in NumPy; where a slice or a new
/// axis stands between them, or before them and an integer, their axes come first. An index that
/// lies outside reads the nearest element and writes nothing, unless it is known when recording, as
/// those of hd::index_list: IndexError. Arrays of bool pick where they hold: as nonzero() of them,
/// which evaluates and waits; along an axis of extent 0 they hold nowhere, and fit any. It
/// remembers where it was written, for error messages.
class IndexItem {
 public:
  enum class Kind : std::uint8_t { absent, integer, slice, new_axis, other_axes, array };

  IndexItem() = default;
  // NOLINTBEGIN: subscripts convert
  IndexItem(std::int64_t index, SourceLocation location = SourceLocation::current())
      : kind(Kind::integer), integer(index), where(location) {}
  IndexItem(Slice range, SourceLocation location = SourceLocation::current())
      : kind(Kind::slice), slice(range), where(location) {}
  IndexItem(NewAxis, SourceLocation location = SourceLocation::current())
      : kind(Kind::new_axis), where(location) {}
  IndexItem(Ellipsis, SourceLocation location = SourceLocation::current())
      : kind(Kind::other_axes), where(location) {}
  IndexItem(const Array& index, SourceLocation location = SourceLocation::current());
  // NOLINTEND

  Kind kind = Kind::absent;
  std::int64_t integer = 0;
  Slice slice;
  std::shared_ptr<const Array> array;
  std::optional<std::pair<std::int64_t, std::int64_t>> bounds;  ///< least and greatest, where known
  SourceLocation where;
};

/// A subscript of integers that are known when recording, x(hd::index_list({2, 0, -1})): one that
/// lies outside its axis is an IndexError at once.
IndexItem index_list(const std::vector<std::int64_t>& places,
                     SourceLocation where = SourceLocation::current());

}  // namespace heddle
