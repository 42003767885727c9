#include "frontend/python/gil.h"

#include <unistd.h>

namespace heddle::python {

void block_forever() noexcept {
  for (;;) pause();
}

}  // namespace heddle::python
