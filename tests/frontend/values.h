#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <heddle/heddle.h>

namespace hd = heddle;

namespace heddle::test {

/// Checks dtype, shape and elements; NaN equals NaN.
template <class T>
void check(const Array& array, const Shape& shape, const std::vector<T>& expected) {
  CHECK(array.dtype() == dtype_of<T>);
  CHECK(array.shape() == shape);
  const std::vector<T> values = array.to_vector<T>();
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(expected[i])) {
        CHECK(std::isnan(values[i]));
        continue;
      }
      CHECK(values[i] == doctest::Approx(expected[i]).epsilon(1e-6));
    } else {
      CHECK(values[i] == expected[i]);
    }
  }
}

/// The message of the exception of type E that `function` throws.
template <class E, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "(no such exception)";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// "cpp:12)": how a message that names this file and line ends.
inline std::string line_mark(int line) { return "cpp:" + std::to_string(line) + ")"; }

}  // namespace heddle::test
