#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dynamic_library.h"

/// NVRTC, opened when first needed: compiles CUDA C++ to machine code.
namespace heddle::runtime::nvrtc {

enum class BinaryKind { cubin, ptx };

struct Binary {
  BinaryKind kind = BinaryKind::cubin;
  std::string bytes;
  std::string log;           ///< warnings of a compile that succeeded
  std::string architecture;  ///< the compile target: "sm_90", or "compute_90" for PTX
};

/// True if the library can be loaded. Loads it; never throws.
bool available();
/// Why available() is false, with every location tried; empty if it is true.
const std::string& unavailable_reason();
/// Starts loading the library in the background, so that an early compile waits less.
void prefetch();

/// "13.0 build 580.12": the release and, if the library exposes it, the build. Part of a module's
/// key. Throws DeviceError if there is no NVRTC.
std::string version();
/// The path of the library's file, for reports. Throws DeviceError.
std::string path();
/// Compute capabilities for which it generates machine code, ascending: 75, 80 ... Throws
/// DeviceError.
const std::vector<int>& supported_architectures();

/// The code to generate for a device of `architecture` ("sm_90"), given the `known` architectures:
/// machine code for the device itself if known; else PTX for the highest older architecture, which
/// the driver compiles. Throws DeviceError, with the architecture, the version and advice, if all
/// known ones are newer.
struct Choice {
  BinaryKind kind = BinaryKind::cubin;
  std::string option_value;  ///< for --gpu-architecture
};
Choice choose_architecture(std::string_view architecture, const std::vector<int>& known,
                           std::string_view version);

struct Options {
  bool contract = true;                 ///< fuse a * b + c
  bool line_info = false;               ///< for profilers and debuggers
  std::string source_folder = {};       ///< folder in which these search for NAME.cu, if line_info
                                        ///< is set
  bool approximate = false;             ///< 2 ulp division and square root, fast exp and log
  std::vector<std::string> extra = {};  ///< further options, in order
};
/// The options for these settings, in order, without --gpu-architecture. Part of keys.
std::vector<std::string> option_list(const Options& options);

/// A file that a unit may include by this name.
struct Header {
  std::string name, text;
};
/// A translation unit with options that the caller chooses, except --gpu-architecture.
struct Unit {
  std::string source;
  std::string file;  ///< the name of the source in messages
  std::vector<std::string> options;
  std::vector<std::string> expressions = {};  ///< names of templates' instances: "scale<float>"
  std::vector<Header> headers = {};
};
struct UnitResult {
  bool compiled = false;
  Binary binary;                       ///< its log is that of a failed compile, too
  std::vector<std::string> options{};  ///< all, in order
  std::vector<std::string> symbols{};  ///< for each expression, its name in the binary
};
/// Compiles a unit. Throws DeviceError if there is no NVRTC, or it does not support the
/// architecture. Thread-safe; calls run in parallel.
UnitResult compile_unit(const Unit& unit, std::string_view architecture);

/// Compiles one translation unit without an include path. `name` is used in messages. Throws
/// CompileError with the log, the options and the numbered source; DeviceError if there is no NVRTC
/// or it does not support the architecture. Thread-safe; calls run in parallel.
Binary compile(std::string_view source, const std::string& name, std::string_view architecture,
               const Options& options);

}  // namespace heddle::runtime::nvrtc
