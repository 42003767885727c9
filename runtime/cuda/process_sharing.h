#pragma once

#include "runtime/device/process_sharing.h"

namespace heddle::runtime::cuda {

const ProcessSharing& process_sharing();

}  // namespace heddle::runtime::cuda
