#include "runtime/base/statistics.h"

namespace heddle::runtime {

Statistics& statistics() {
  static Statistics* const counts = new Statistics;
  return *counts;
}

}  // namespace heddle::runtime
