#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/programs/cases.h"

namespace heddle::bench {

/// Microseconds per call: the median of seven batches of calls of about `seconds` each. Each batch
/// ends with one synchronisation. So the result is the device's time or the host's time to start a
/// call, whichever is longer.
double microseconds_a_call(const std::function<void()>& call, double seconds = 0.02);

/// Memory bandwidth measured in this run, in bytes per second.
struct Ceilings {
  double copy = 0;         ///< bytes read and written by the device's own copy function
  double kernel_copy = 0;  ///< bytes read and written by Heddle's kernel for -x
  double read = 0;         ///< bytes read by Heddle's kernels for sum(x)
};
/// With `small`, the arrays have 64 MiB, else 1 GiB.
Ceilings measure_ceilings(bool small);

struct Measurement {
  double microseconds = 0;
  double error = 0;  ///< largest error of the sampled elements
  bool correct = false;
  int kernels = 0;  ///< kernels launched per call
  std::size_t peak_bytes = 0;
};

/// A program to measure. The constructor creates its inputs, runs it, and checks the result.
class Prepared {
 public:
  explicit Prepared(const Case& program);
  /// Measures the time per call, in batches of `seconds`. The other members are those that the
  /// constructor found.
  Measurement measure(double seconds) const;

 private:
  const Case& program_;
  std::vector<Array> inputs_;
  Measurement found_;
};

/// A program's first call, with the inputs on the device.
struct FirstCall {
  double milliseconds = 0;
  bool nvrtc_loaded = false;  ///< whether NVRTC was loaded into this process by the end of the call
};
FirstCall time_first_call(const Case& program);

}  // namespace heddle::bench
