#pragma once

#include "codegen/common/kernel_source.h"
#include "passes/plan/kernel_plan.h"

namespace heddle::codegen {

/// Prints a plan as CUDA C++ on top of the device library, as one self-contained text.
KernelSource print_cuda(const passes::KernelPlan& plan);
/// Prints a plan as C++ for the host:
///   extern "C" void name(void* const* buffers, const long long* scalars, long long begin, long
///   long end)
/// It runs the part [begin, end) of the launch's range.
KernelSource print_host(const passes::KernelPlan& plan);

}  // namespace heddle::codegen
