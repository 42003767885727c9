#pragma once

#include <string>
#include <vector>

#include "runtime/cache/image.h"
#include "runtime/compile/reproducer.h"

namespace heddle::runtime {

/// Compiles `source`, a file among the reproduction's, by the NVRTC at `library`.
Reproduction nvrtc_reproduction(const std::string& library, Reproduction::File source,
                                const std::vector<std::string>& options);
/// Loads a module as the driver has refused to.
Reproduction driver_reproduction(const ModuleImage& module);

}  // namespace heddle::runtime
