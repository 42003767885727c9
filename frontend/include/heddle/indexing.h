#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/source_location.h"

namespace heddle {

class Array;

/// An absent bound, like None in a Python slice: hd::slice(hd::none, hd::none, -1) reverses.
inline constexpr std::nullopt_t none = std::nullopt;

/// start:stop:step. Bounds follow Python: negative bounds count from the end, bounds out of range
/// are clipped, and the defaults of absent bounds depend on the sign of the step.
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

/// A bound of a slice: an integer, hd::none, or a 0-d Array of integers, such as a loop's counter.
class SliceBound {
 public:
  explicit SliceBound(std::optional<std::int64_t> value) : value_(value) {}
  explicit SliceBound(const Array& array);
  std::optional<std::int64_t> value() const { return value_; }
  /// Null for an integer or none.
  const std::shared_ptr<const Array>& array() const { return array_; }

 private:
  std::optional<std::int64_t> value_;
  std::shared_ptr<const Array> array_;
};

/// A slice with bounds that are arrays. In a loop, x(hd::slice(i, i + 2)) has two elements, since
/// the bounds are sums, differences or multiples of counters with a constant distance. Its elements
/// are those of x at i and i + 1: as with index arrays, one out of range is the nearest element
/// when read, and is not written. Other arrays as bounds are a TraceError inside a trace, for
/// which the length would not be known: dynamic_slice() takes the length instead. Outside, bounds
/// are read, which evaluates and waits. DTypeError unless a bound is one integer.
struct ArraySlice {
  SliceBound start, stop;
  std::optional<std::int64_t> step;
};

/// [start:stop:step], where a bound is an Array.
template <class Start, class Stop>
  requires(std::same_as<Start, Array> || std::same_as<Stop, Array>)
ArraySlice slice(const Start& start, const Stop& stop,
                 std::optional<std::int64_t> step = std::nullopt) {
  return {SliceBound(start), SliceBound(stop), step};
}
/// [:stop]
inline ArraySlice slice(const Array& stop) {
  return {SliceBound(std::nullopt), SliceBound(stop), std::nullopt};
}

struct NewAxis {};
struct Ellipsis {};

/// A whole axis: x(hd::_, 0) is x[:, 0].
inline constexpr Slice _{};
/// A new axis of extent 1.
inline constexpr NewAxis newaxis{};
/// As many whole axes as the other subscripts leave.
inline constexpr Ellipsis ellipsis{};

/// One subscript of x(...): an integer, a slice, hd::newaxis, hd::ellipsis, or an array. It keeps
/// its source location for error messages.
///
/// Integer arrays select elements; several of them broadcast together, as in NumPy. If a slice or a
/// new axis separates them from each other or from an integer, their axes come first in the result.
/// An index out of range reads the nearest element and writes nothing; with HEDDLE_CHECK_BOUNDS=1
/// it is an IndexError. If the indices are known when recording, as in hd::index_list, it is always
/// an IndexError.
///
/// Bool arrays select the elements where they are true, as nonzero() does, which evaluates and
/// waits. A mask axis of extent 0 matches any extent and selects nothing.
class IndexItem {
 public:
  enum class Kind : std::uint8_t { absent, integer, slice, new_axis, other_axes, array };

  IndexItem() = default;
  // NOLINTBEGIN: subscripts convert
  IndexItem(std::int64_t index, SourceLocation location = SourceLocation::current())
      : kind(Kind::integer), integer(index), where(location) {}
  IndexItem(Slice range, SourceLocation location = SourceLocation::current())
      : kind(Kind::slice), slice(range), where(location) {}
  IndexItem(const ArraySlice& range, SourceLocation location = SourceLocation::current());
  IndexItem(NewAxis, SourceLocation location = SourceLocation::current())
      : kind(Kind::new_axis), where(location) {}
  IndexItem(Ellipsis, SourceLocation location = SourceLocation::current())
      : kind(Kind::other_axes), where(location) {}
  IndexItem(const Array& index, SourceLocation location = SourceLocation::current());
  // NOLINTEND

  Kind kind = Kind::absent;
  std::int64_t integer = 0;
  Slice slice;
  std::shared_ptr<const Array> start, stop;  ///< bounds of the slice that are arrays
  std::shared_ptr<const Array> array;
  std::optional<std::pair<std::int64_t, std::int64_t>> bounds;  ///< min and max, if known
  SourceLocation where;
};

/// A subscript of integers that are known when recording, x(hd::index_list({2, 0, -1})). An index
/// out of range throws IndexError immediately.
IndexItem index_list(const std::vector<std::int64_t>& places,
                     SourceLocation where = SourceLocation::current());

}  // namespace heddle
