#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// numpy.roll: moves element i to i + shift, wrapping around; without axes, of the flattened array.
/// Shifts and axes pair up; a single shift or axis is paired with all of the others. A repeated
/// axis is rolled repeatedly. ValueError if their numbers do not match.
Array roll(const Operand& x, const std::vector<std::int64_t>& shifts, const Axes& axes = {});
Array roll(const Operand& x, std::int64_t shift, const Axes& axes = {});
/// numpy.fliplr and numpy.flipud: reverse the second (first) axis. ShapeError if there is no such
/// axis.
Array fliplr(const Operand& x);
Array flipud(const Operand& x);
/// numpy.rot90: rotates by `turns` * 90 degrees, from the first axis towards the second. ValueError
/// unless there are two different axes.
Array rot90(const Operand& x, std::int64_t turns = 1, const Axes& axes = {0, 1});
/// numpy.repeat: repeats each element `count` times along an axis; without an axis, of the
/// flattened array. ValueError for a negative count.
Array repeat(const Operand& x, std::int64_t count, std::optional<std::int64_t> axis = {});
/// numpy.tile: repeats the whole array, counts[i] times along axis i. ValueError for a negative
/// count.
Array tile(const Operand& x, const std::vector<std::int64_t>& counts);
/// numpy.resize: repeats the elements to fill a new shape; zeros if x is empty. ValueError for a
/// negative extent.
Array resize(const Operand& x, const Shape& shape);

/// Number of elements added before and after an axis.
using PadWidth = std::array<std::int64_t, 2>;
/// Options of single modes of pad. Lists have one entry for each axis, or one for all axes.
struct PadOptions {
  std::vector<std::array<Scalar, 2>> constant_values = {};  ///< for "constant"; 0 by default
  std::vector<std::array<Scalar, 2>> end_values = {};       ///< for "linear_ramp"; 0 by default
  std::vector<PadWidth> stat_length = {};  ///< for "maximum", "mean", "minimum"; by default all
  bool odd = false;  ///< for "reflect" and "symmetric": NumPy's reflect_type "odd"
};
/// numpy.pad by `widths`, one for each axis or one for all of them. `mode` is "constant", "edge",
/// "linear_ramp", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap" or "empty" (zeros).
/// ValueError for a negative width, another mode, an option of another mode, and for an empty axis
/// if the mode reads it.
Array pad(const Operand& x, const std::vector<PadWidth>& widths, std::string_view mode = "constant",
          const PadOptions& options = {});

}  // namespace heddle
