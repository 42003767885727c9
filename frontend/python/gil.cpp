#include "frontend/python/gil.h"

#include <unistd.h>

namespace heddle::python {

void stand_still() noexcept {
  for (;;) pause();
}

}  // namespace heddle::python
