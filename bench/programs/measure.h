#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/programs/cases.h"

namespace heddle::bench {

/// Microseconds a call: the median of seven batches, each timed to one synchronisation, so it is
/// the larger of the device's time and of what the host needs to start a call.
double microseconds_a_call(const std::function<void()>& call);

/// What memory gives in this run, in bytes a second.
struct Ceilings {
  double copy = 0;         ///< read plus written by a large copy of the device's own
  double kernel_copy = 0;  ///< the same by a kernel of Heddle's that negates
  double read = 0;         ///< by a kernel of Heddle's that sums
};
Ceilings measure_ceilings(bool small);

struct Measurement {
  double microseconds = 0;
  double error = 0;  ///< the worst of the sampled elements
  bool correct = false;
  int kernels = 0;  ///< launched by a call
  std::size_t peak_bytes = 0;
};

/// A program with its inputs made, and a result checked.
class Prepared {
 public:
  explicit Prepared(const Case& program);
  /// What was found, and the time a call, taken anew.
  Measurement measure() const;

 private:
  const Case& program_;
  std::vector<Array> inputs_;
  Measurement found_;
};

/// A program's first call, with the inputs on the device.
struct FirstCall {
  double milliseconds = 0;
  bool nvrtc_loaded = false;  ///< into this process, by the end of the call
};
FirstCall time_first_call(const Case& program);

}  // namespace heddle::bench
