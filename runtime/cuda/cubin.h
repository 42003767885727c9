#pragma once

#include <string>
#include <string_view>

#include "passes/report/report.h"

namespace heddle::runtime {

/// What the machine code of `kernel` needs, read from a cubin, an ELF file: registers and the stack
/// from the attributes of .nv.info, the rest from the sizes of its sections. Shared memory is what
/// the text declares, without the kilobyte that sm_90 and later keep for the system. Throws
/// ParseError for bytes that are no cubin or that have no such kernel.
passes::KernelResources read_cubin(std::string_view bytes, const std::string& kernel);

}  // namespace heddle::runtime
