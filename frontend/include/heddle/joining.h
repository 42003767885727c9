#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heddle/array.h"
#include "heddle/manipulation.h"

namespace heddle {

// Joining, splitting, inserting and deleting. Dtypes promote when arrays are joined.

/// One integer or a list of integers. As in NumPy, a list of one integer differs from the integer.
class Places {
 public:
  // NOLINTBEGIN: split(x, 2), split(x, {2, 5})
  Places(std::int64_t value) : values_{value}, single_(true) {}
  Places(std::initializer_list<std::int64_t> values) : values_(values) {}
  Places(std::vector<std::int64_t> values) : values_(std::move(values)) {}
  // NOLINTEND
  bool single() const { return single_; }
  const std::vector<std::int64_t>& values() const { return values_; }

 private:
  std::vector<std::int64_t> values_;
  bool single_ = false;
};

/// numpy.hstack: joins along the second axis; 1-d arrays along their only axis.
Array hstack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.vstack: joins along the first axis; 1-d arrays are rows.
Array vstack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.dstack: joins along the third axis, after atleast_3d.
Array dstack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.column_stack: 1-d arrays are columns.
Array column_stack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.append. Without an axis both arrays are flattened.
Array append(const Operand& x, const Operand& values, std::optional<std::int64_t> axis = {});

/// The argument of block(): an array, or a list of blocks.
class Block {
 public:
  // NOLINTBEGIN: block({{a, b}, {c, d}})
  Block(const Array& array) : array_(array) {}
  Block(std::initializer_list<Block> blocks) : blocks_(blocks), is_list_(true) {}
  Block(std::vector<Block> blocks) : blocks_(std::move(blocks)), is_list_(true) {}
  // NOLINTEND
  bool is_list() const { return is_list_; }
  const Array& array() const { return array_; }
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  Array array_;
  std::vector<Block> blocks_;
  bool is_list_ = false;
};
/// numpy.block: joins arrays in nested lists. The innermost lists are joined along the last axis,
/// the next level along the axis before it, and so on. Arrays of fewer axes get leading axes of
/// extent 1. ValueError for an empty list, and if arrays are at different depths; ShapeError if
/// other extents differ.
Array block(const Block& blocks, SourceLocation where = SourceLocation::current());

/// numpy.split into a number of equal sections, or before each index of a list. The results are
/// views. ValueError if the extent is not divisible. Indices are slice bounds: they may be negative
/// or beyond the end.
std::vector<Array> split(const Operand& x, const Places& places, std::int64_t axis = 0);
/// numpy.array_split: if the extent is not divisible, the first sections are one longer.
std::vector<Array> array_split(const Operand& x, const Places& places, std::int64_t axis = 0);
/// numpy.hsplit (second axis; the only axis of a 1-d array), numpy.vsplit (first axis) and
/// numpy.dsplit (third axis). ValueError for fewer than 1, 2 and 3 axes.
std::vector<Array> hsplit(const Operand& x, const Places& places);
std::vector<Array> vsplit(const Operand& x, const Places& places);
std::vector<Array> dsplit(const Operand& x, const Places& places);
/// numpy.unstack: one array for each index of an axis; the axis is removed.
std::vector<Array> unstack(const Operand& x, std::int64_t axis = 0);

/// numpy.delete: x without the given indices along an axis; without an axis, of the flattened
/// array. IndexError for an index out of range.
Array delete_(const Operand& x, const Places& indices, std::optional<std::int64_t> axis = {});
/// The same with an array of integers, or a mask of the axis's extent (ShapeError for another
/// extent). Evaluates `indices` and waits; TraceError inside a trace.
Array delete_(const Operand& x, const Array& indices, std::optional<std::int64_t> axis = {});
/// numpy.insert: inserts values before the given indices of x. All values along the axis go before
/// a single index; with a list, one value goes before each index. The values are cast to the dtype
/// of x. IndexError for an index out of range.
Array insert(const Operand& x, const Places& indices, const Operand& values,
             std::optional<std::int64_t> axis = {});
/// The same with an array of integers, or a 1-d mask. Evaluates `indices` and waits; TraceError
/// inside a trace.
Array insert(const Operand& x, const Array& indices, const Operand& values,
             std::optional<std::int64_t> axis = {});

}  // namespace heddle
