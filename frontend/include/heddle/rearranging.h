#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// numpy.roll: element i goes to i + shift, around the end; of the flattened array where no axis is
/// given. Several shifts and axes go together, a single one of either with all of the others; an
/// axis that is named twice is rolled twice. ValueError where their numbers do not fit.
Array roll(const Operand& x, const std::vector<std::int64_t>& shifts, const Axes& axes = {});
Array roll(const Operand& x, std::int64_t shift, const Axes& axes = {});
/// numpy.fliplr and numpy.flipud: the second axis reversed, the first. ShapeError where there is
/// none.
Array fliplr(const Operand& x);
Array flipud(const Operand& x);
/// numpy.rot90: `turns` quarters from the first of the two axes to the second. ValueError unless
/// there are two, and different.
Array rot90(const Operand& x, std::int64_t turns = 1, const Axes& axes = {0, 1});
/// numpy.repeat: each element `count` times, of the flattened array where no axis is given.
/// ValueError for a negative count.
Array repeat(const Operand& x, std::int64_t count, std::optional<std::int64_t> axis = {});
/// numpy.tile: the array side by side, that often along each axis. ValueError for a negative one.
Array tile(const Operand& x, const std::vector<std::int64_t>& counts);
/// numpy.resize: the elements over and over, in a new shape; zeros where there are none.
Array resize(const Operand& x, const Shape& shape);

/// Before and behind an axis.
using PadWidth = std::array<std::int64_t, 2>;
/// What only some modes of pad take. Lists have one entry for each axis, or one for all of them.
struct PadOptions {
  std::vector<std::array<Scalar, 2>> constant_values = {};  ///< of "constant"; 0 when absent
  std::vector<std::array<Scalar, 2>> end_values = {};       ///< of "linear_ramp"; 0 when absent
  std::vector<PadWidth> stat_length = {};  ///< of "maximum", "mean" and "minimum"; all when absent
  bool odd = false;  ///< of "reflect" and "symmetric": mirrored at the edge's value too
};
/// numpy.pad by `widths`, one for each axis or one for all of them, with mode "constant", "edge",
/// "linear_ramp", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap" or "empty" (zeros).
/// ValueError for a negative width, another mode, an option of another mode, and for an empty axis
/// where the mode reads it.
Array pad(const Operand& x, const std::vector<PadWidth>& widths, std::string_view mode = "constant",
          const PadOptions& options = {});

}  // namespace heddle
