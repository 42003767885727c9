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
  double tolerance = 1e-5;        ///< of the error over the largest of `scale` and the value
  double scale = 1;               ///< of the result's elements
  int samples = 32;               ///< elements of the result that are checked
  std::int64_t fewest_bytes = 0;  ///< 0 where arithmetic and not memory is what limits it
  bool mostly_reads = false;
};

/// All of them. `scale`, a power of two up to 64, divides the sides of matrices, and its square
/// what has one long axis: slower machines get through the same programs. bench/peers/programs.py
/// has them under the same names and in the same sizes.
std::vector<Case> all_cases(std::int64_t scale);

}  // namespace heddle::bench
