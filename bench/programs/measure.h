#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/programs/cases.h"

namespace heddle::bench {

/// Microseconds per call: the median of seven batches. Each batch ends with one synchronisation, so
/// the result is the larger of the device's time and the host's time to start a call.
double microseconds_a_call(const std::function<void()>& call);

/// Memory bandwidth measured in this run, in bytes per second.
struct Ceilings {
  double copy = 0;         ///< read plus written by a large copy with the device's own copy
                           ///< function
  double kernel_copy = 0;  ///< the same by a kernel of Heddle that negates
  double read = 0;         ///< read by a kernel of Heddle that sums
};
Ceilings measure_ceilings(bool small);

struct Measurement {
  double microseconds = 0;
  double error = 0;  ///< largest error of the sampled elements
  bool correct = false;
  int kernels = 0;  ///< kernels launched per call
  std::size_t peak_bytes = 0;
};

/// A program with inputs made and one result checked.
class Prepared {
 public:
  explicit Prepared(const Case& program);
  /// The stored results of the check, with a new measurement of the time per call.
  Measurement measure() const;

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
