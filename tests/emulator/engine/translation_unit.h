#pragma once

#include <span>
#include <string>

#include "codegen/common/kernel_source.h"

namespace heddle::emulator {

/// One text for the host's compiler from the texts of many kernels: the prelude, every library
/// section once (those with a twin in tests/emulator/device/ by their twin), each kernel in a
/// namespace of its own, and the table that the emulator finds them by.
std::string print_translation_unit(std::span<const codegen::KernelSource> kernels);

/// The folder of the twins.
std::string device_folder();

}  // namespace heddle::emulator
