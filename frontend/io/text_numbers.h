#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "heddle/dtype.h"

namespace heddle::frontend {

/// Parses numbers of one dtype from text, one by one.
class TextNumbers {
 public:
  explicit TextNumbers(DType dtype);

  /// Returns false if the text is not a number of the dtype. Ignores surrounding whitespace.
  bool append(std::string_view text);
  std::size_t count() const { return count_; }
  /// The elements, converted to the dtype.
  std::vector<std::byte> finish() const;

 private:
  template <class T>
  bool append_integer(std::string_view text);
  template <class T>
  void store(const T& value);

  DType dtype_, wide_;
  std::size_t count_ = 0;
  std::vector<std::byte> bytes_;  ///< in the wide dtype
};

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace heddle::frontend
