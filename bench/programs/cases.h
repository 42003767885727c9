#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/programs/inputs.h"

namespace heddle::bench {

/// Computes element `flat` of a result in float64 from the elements of the inputs.
using Reference = std::function<double(const std::vector<Input>& inputs, std::int64_t flat)>;

/// A program of the performance page.
struct Case {
  std::string name;
  std::vector<Input> inputs;
  std::function<Array(const std::vector<Array>&)> call;  ///< a jitted function
  Shape result;
  Reference reference;
  /// The error of the whole result, if there is no reference for single elements; then `reference`
  /// is not called.
  std::function<double(const std::vector<Input>&, const std::vector<double>&)> error_of_all;
  double tolerance = 1e-5;        ///< relative to the larger of `scale` and the value
  double scale = 1;               ///< typical magnitude of the result's elements
  int samples = 32;               ///< number of result elements to check
  std::int64_t fewest_bytes = 0;  ///< 0 if limited by arithmetic rather than memory
  bool mostly_reads = false;
};

using Inputs = std::vector<Input>;
using Call = std::function<Array(const std::vector<Array>&)>;

/// A case that reads each input and writes the result at least once. The result has the first
/// input's dtype.
Case make_case(std::string name, Inputs inputs, Shape result, Call call, Reference reference);

/// Softmax of the last axis, in the first input's dtype.
Case softmax(std::string name, std::int64_t rows, std::int64_t columns, DType dtype = DType::f32);

/// Programs of the same kinds as the page's.
std::vector<Case> further_cases(std::int64_t scale);

/// All cases. `scale`, a power of two up to 64, divides the sides of matrices, and its square the
/// length of arrays with one long axis, for slower machines. bench/peers/programs/ has the same
/// programs with the same names and sizes, and further ones.
std::vector<Case> all_cases(std::int64_t scale);

}  // namespace heddle::bench
