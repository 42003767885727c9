#pragma once

/// Ranges for Nsight Systems and other tools that listen by NVTX 3: tracing, passes, printing,
/// compiling, loading and launching, each with its name, in the domain "heddle".
///
/// NVTX is a convention between headers that an application compiles and a library that the tool
/// puts into the process. The headers' side of it is spoken here, by declarations of our own, so
/// that no toolkit is needed and every build has it. A process without a tool looks once whether
/// there is one.
namespace heddle::runtime::nvtx {

/// Tells the tool, where there is one (NVTX_INJECTION64_PATH names it, or it is loaded already), of
/// all spans from now on. To be called once.
void attach();

}  // namespace heddle::runtime::nvtx
