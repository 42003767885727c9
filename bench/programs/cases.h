#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/programs/inputs.h"

namespace heddle::bench {

/// Element `flat` of a result in float64, from the inputs' elements.
using Reference = std::function<double(const std::vector<Input>& inputs, std::int64_t flat)>;

/// A program of the performance page.
struct Case {
  std::string name;
  std::vector<Input> inputs;
  std::function<Array(const std::vector<Array>&)> call;  ///< a jitted function
  Shape result;
  Reference reference;
  /// The error of a result whose elements no reference can say one by one; `reference` is not
  /// asked.
  std::function<double(const std::vector<Input>&, const std::vector<double>&)> error_of_all;
  double tolerance = 1e-5;        ///< of the error over the largest of `scale` and the value
  double scale = 1;               ///< of the result's elements
  int samples = 32;               ///< elements of the result that are checked
  std::int64_t fewest_bytes = 0;  ///< 0 where arithmetic and not memory is what limits it
  bool mostly_reads = false;
};

using Inputs = std::vector<Input>;
using Call = std::function<Array(const std::vector<Array>&)>;

/// A case that reads each input and writes the result, of the first one's dtype, at least once.
Case make_case(std::string name, Inputs inputs, Shape result, Call call, Reference reference);

/// softmax of the last axis, in the first input's dtype.
Case softmax(std::string name, std::int64_t rows, std::int64_t columns, DType dtype = DType::f32);

/// Programs of the same kinds as the page's.
std::vector<Case> further_cases(std::int64_t scale);

/// All of them. `scale`, a power of two up to 64, divides the sides of matrices, and its square
/// what has one long axis: slower machines get through the same programs. bench/peers/programs.py
/// has them under the same names and in the same sizes.
std::vector<Case> all_cases(std::int64_t scale);

}  // namespace heddle::bench
