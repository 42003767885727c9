#pragma once

#include <memory>

#include "runtime/launch/launcher.h"

namespace heddle::runtime::host {

/// Loads a program's modules into the process. Throws LoadFailure.
std::unique_ptr<KernelLauncher> load(const ProgramImage& image);

}  // namespace heddle::runtime::host
