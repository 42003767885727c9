#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dynamic_library.h"

/// NVRTC, opened when first needed: CUDA C++ text to machine code.
namespace heddle::runtime::nvrtc {

enum class BinaryKind { cubin, ptx };

struct Binary {
  BinaryKind kind = BinaryKind::cubin;
  std::string bytes;
  std::string log;           ///< warnings of a compile that succeeded
  std::string architecture;  ///< what it was compiled for: "sm_90", or "compute_90" for PTX
};

/// True when the library can be loaded. Never throws. Loads it.
bool available();
/// Why available() is false, with every place tried; empty when it is true.
const std::string& unavailable_reason();
/// Starts to load the library in the background, so that a compile soon after waits less.
void prefetch();

/// "13.0 build 580.12": the release and, where the library shows it, the build. Part of a module's
/// key. Throws DeviceError when there is no NVRTC.
std::string version();
/// The library's file, for reports. Throws DeviceError.
std::string path();
/// Compute capabilities that it makes machine code for, ascending: 75, 80 ... Throws DeviceError.
const std::vector<int>& supported_architectures();

/// What a device of `architecture` ("sm_90") gets, given the architectures that are known: its own
/// machine code; else PTX for the highest that is older, which the driver finishes. Throws
/// DeviceError, naming the architecture, the version and what to do, when all are newer.
struct Choice {
  BinaryKind kind = BinaryKind::cubin;
  std::string option_value;  ///< for --gpu-architecture
};
Choice choose_architecture(std::string_view architecture, const std::vector<int>& known,
                           std::string_view version);

struct Options {
  bool contract = true;                 ///< fuse a * b + c
  bool line_info = false;               ///< for profilers and debuggers
  std::string source_folder = {};       ///< where these look for NAME.cu, with line_info
  bool approximate = false;             ///< 2 ulp division and square root, fast exp and log
  std::vector<std::string> extra = {};  ///< further options, in order
};
/// The options passed for these settings, in order, without --gpu-architecture; part of keys.
std::vector<std::string> option_list(const Options& options);

/// Compiles one translation unit with no include path. `name` stands in messages. Throws
/// CompileError with the log, the options and the numbered source; DeviceError when there is no
/// NVRTC or it cannot serve the architecture. Thread-safe; calls run in parallel.
Binary compile(std::string_view source, const std::string& name, std::string_view architecture,
               const Options& options);

}  // namespace heddle::runtime::nvrtc
