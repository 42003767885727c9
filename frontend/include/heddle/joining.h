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

// Joining, cutting, and putting in and out. dtypes promote where arrays are joined.

/// One number, or several: a list of one is not the number, as in NumPy.
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

/// numpy.hstack: along the second axis, vectors along their only one.
Array hstack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.vstack: vectors are rows.
Array vstack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.dstack: along the third axis, see atleast_3d.
Array dstack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.column_stack: vectors are columns.
Array column_stack(Arrays arrays, SourceLocation where = SourceLocation::current());
/// numpy.append: both flattened where there is no axis.
Array append(const Operand& x, const Operand& values, std::optional<std::int64_t> axis = {});

/// What block() joins: an array, or a list of such.
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
/// numpy.block: arrays in nested lists, the innermost lists joined along the last axis, those that
/// hold them along the one before, and so on; arrays of fewer axes get leading ones of extent 1.
/// ValueError for an empty list, and where arrays lie at different depths; ShapeError when other
/// extents differ.
Array block(const Block& blocks, SourceLocation where = SourceLocation::current());

/// numpy.split into a number of equal sections, or before each index of a list. Views. ValueError
/// where the extent does not divide; indices are bounds as in slices, so they may be negative or
/// beyond the end.
std::vector<Array> split(const Operand& x, const Places& places, std::int64_t axis = 0);
/// numpy.array_split: the first sections are one longer where the extent does not divide.
std::vector<Array> array_split(const Operand& x, const Places& places, std::int64_t axis = 0);
/// numpy.hsplit (of the second axis, of a vector's only one), numpy.vsplit (of the first) and
/// numpy.dsplit (of the third). ValueError for arrays of fewer than 1, 2, 3 axes.
std::vector<Array> hsplit(const Operand& x, const Places& places);
std::vector<Array> vsplit(const Operand& x, const Places& places);
std::vector<Array> dsplit(const Operand& x, const Places& places);
/// numpy.unstack: one array for each index of an axis, without it.
std::vector<Array> unstack(const Operand& x, std::int64_t axis = 0);

/// numpy.delete: without the indices along an axis, of the flattened array where there is none.
/// IndexError for an index out of range.
Array delete_(const Operand& x, const Places& indices, std::optional<std::int64_t> axis = {});
/// The same with the integers of an array, or the places where a mask of the axis' extent holds
/// (ShapeError for another). Evaluates `indices` and waits; TraceError inside a trace.
Array delete_(const Operand& x, const Array& indices, std::optional<std::int64_t> axis = {});
/// numpy.insert, before the indices, which count in x. Before a single one all of the values that
/// there are along the axis, before each of a list one. They are cast to the dtype of x. IndexError
/// for an index out of range.
Array insert(const Operand& x, const Places& indices, const Operand& values,
             std::optional<std::int64_t> axis = {});
/// The same with the integers of an array, or the places where a mask, 1-d, holds. Evaluates
/// `indices` and waits; TraceError inside a trace.
Array insert(const Operand& x, const Array& indices, const Operand& values,
             std::optional<std::int64_t> axis = {});

}  // namespace heddle
