#pragma once

#include <string>
#include <vector>

#include "runtime/cache/image.h"
#include "runtime/compile/reproducer.h"

namespace heddle::runtime {

/// A reproduction that compiles `source`, one of its files, with the NVRTC at `library`.
Reproduction nvrtc_reproduction(const std::string& library, Reproduction::File source,
                                const std::vector<std::string>& options);
/// A reproduction of a module load that the driver rejected.
Reproduction driver_reproduction(const ModuleImage& module);

}  // namespace heddle::runtime
