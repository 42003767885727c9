#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "heddle/array.h"

namespace heddle {

/// Iterates over the first axis of an array. *it is x(i), recorded but not computed. Writing to it
/// does not change x.
class ArrayIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = Array;
  using difference_type = std::ptrdiff_t;
  using pointer = const Array*;
  using reference = Array;

  ArrayIterator() = default;
  ArrayIterator(const Array& array, std::int64_t index) : array_(array), index_(index) {}

  Array operator*() const { return array_(index_); }
  ArrayIterator& operator++() {
    ++index_;
    return *this;
  }
  ArrayIterator operator++(int) {
    ArrayIterator before = *this;
    ++index_;
    return before;
  }
  friend bool operator==(const ArrayIterator& a, const ArrayIterator& b) {
    return a.index_ == b.index_;
  }

 private:
  Array array_;
  std::int64_t index_ = 0;
};

/// for (const Array& row : x), as NumPy iterates. IndexError for a 0-d array; TraceError if the
/// extent of the first axis is symbolic.
inline ArrayIterator begin(const Array& array) { return {array, 0}; }
inline ArrayIterator end(const Array& array) { return {array, array.shape(0)}; }

}  // namespace heddle
