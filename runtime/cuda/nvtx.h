#pragma once

/// Ranges for Nsight Systems and other tools that use NVTX 3: tracing, passes, printing, compiling,
/// loading and launching, each with its name, in the domain "heddle".
///
/// NVTX is an interface between headers compiled into an application and a library that the tool
/// injects into the process. This code implements the header side with its own declarations, so
/// that every build has it and needs no toolkit. A process without a tool only checks once whether
/// there is one.
namespace heddle::runtime::nvtx {

/// Reports all spans from now on to the tool, if there is one (named by NVTX_INJECTION64_PATH, or
/// already loaded). Call once.
void attach();

}  // namespace heddle::runtime::nvtx
