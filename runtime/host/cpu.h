#pragma once

#include <cstddef>
#include <string>

#include "ir/types/target.h"

namespace heddle::runtime {

/// This machine's processor as a target for plans: the highest x86-64 level that it and the system
/// support (elsewhere the plain architecture), its vector width, and the size class of its
/// last-level cache.
ir::Target detect_host_target();
/// The target of the CPU device: HEDDLE_CPU_TARGET, else the built-in target nearest to the
/// processor. Throws ValueError with the processor's capabilities if the processor cannot run
/// HEDDLE_CPU_TARGET.
ir::Target chosen_host_target();
/// "AMD EPYC 9B45" and the like, for reports.
std::string host_cpu_name();
std::size_t host_memory_bytes();

}  // namespace heddle::runtime
