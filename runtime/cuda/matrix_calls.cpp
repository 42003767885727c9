#include "runtime/cuda/matrix_calls.h"

#include <memory>
#include <string>

namespace heddle::runtime::cuda {

cusolver::Allocate workspace_of(const CallBuffers& frame) {
  static const Label& label =
      *new Label(std::make_shared<const std::string>("workspace of cuSOLVER"));
  return [&frame](std::size_t bytes) { return frame.allocate(bytes, label); };
}

}  // namespace heddle::runtime::cuda
