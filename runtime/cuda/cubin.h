#pragma once

#include <string>
#include <string_view>

#include "passes/report/report.h"

namespace heddle::runtime {

/// The resources that the machine code of `kernel` uses, read from a cubin, which is an ELF file:
/// registers and stack from the attributes of .nv.info, the rest from section sizes. Shared memory
/// is the amount declared in the source, without the kilobyte that sm_90 and later reserve for the
/// system. Throws ParseError if the bytes are not a cubin or do not contain the kernel.
passes::KernelResources read_cubin(std::string_view bytes, const std::string& kernel);

}  // namespace heddle::runtime
