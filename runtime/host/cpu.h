#pragma once

#include <cstddef>
#include <string>

#include "ir/types/target.h"

namespace heddle::runtime {

/// This machine's processor as plans see it: the highest x86-64 level that it and the system
/// support (or the plain architecture elsewhere), its vectors, and the class of its last cache.
ir::Target detect_host_target();
/// The target of the CPU device: HEDDLE_CPU_TARGET, else the built-in row that is nearest to the
/// processor. Throws ValueError, which says what the processor can, for one that it cannot run.
ir::Target chosen_host_target();
/// "AMD EPYC 9B45" and the like, for reports.
std::string host_cpu_name();
std::size_t host_memory_bytes();

}  // namespace heddle::runtime
