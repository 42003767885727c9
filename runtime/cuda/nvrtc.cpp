#include "runtime/cuda/nvrtc.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <new>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/fault.h"
#include "runtime/base/log.h"
#include "runtime/compile/compile_error.h"
#include "runtime/compile/kept_sources.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/reproduction.h"

namespace heddle::runtime::nvrtc {

namespace {

using Program = struct ProgramOpaque*;
enum class Result : int { success = 0 };

struct Api {
  Result (*nvrtcVersion)(int* major, int* minor) = nullptr;
  Result (*nvrtcGetNumSupportedArchs)(int* count) = nullptr;
  Result (*nvrtcGetSupportedArchs)(int* architectures) = nullptr;
  const char* (*nvrtcGetErrorString)(Result result) = nullptr;
  Result (*nvrtcCreateProgram)(Program* program, const char* source, const char* name, int headers,
                               const char* const* texts, const char* const* names) = nullptr;
  Result (*nvrtcDestroyProgram)(Program* program) = nullptr;
  Result (*nvrtcCompileProgram)(Program program, int count, const char* const* options) = nullptr;
  Result (*nvrtcAddNameExpression)(Program program, const char* expression) = nullptr;
  Result (*nvrtcGetLoweredName)(Program program, const char* expression,
                                const char** symbol) = nullptr;
  Result (*nvrtcGetPTXSize)(Program program, std::size_t* bytes) = nullptr;
  Result (*nvrtcGetPTX)(Program program, char* text) = nullptr;
  Result (*nvrtcGetCUBINSize)(Program program, std::size_t* bytes) = nullptr;
  Result (*nvrtcGetCUBIN)(Program program, char* bytes) = nullptr;
  Result (*nvrtcGetProgramLogSize)(Program program, std::size_t* bytes) = nullptr;
  Result (*nvrtcGetProgramLog)(Program program, char* text) = nullptr;
};

struct Loaded {
  Api api;
  std::string path, version, reason;
  std::vector<int> architectures;
};

/// Fills the table. Returns the names of missing functions.
std::string bind(const DynamicLibrary& library, Api& api) {
  std::string missing;
#define HEDDLE_NVRTC(name) library.bind(api.name, #name, missing)
  HEDDLE_NVRTC(nvrtcVersion);
  HEDDLE_NVRTC(nvrtcGetNumSupportedArchs);
  HEDDLE_NVRTC(nvrtcGetSupportedArchs);
  HEDDLE_NVRTC(nvrtcGetErrorString);
  HEDDLE_NVRTC(nvrtcCreateProgram);
  HEDDLE_NVRTC(nvrtcDestroyProgram);
  HEDDLE_NVRTC(nvrtcCompileProgram);
  HEDDLE_NVRTC(nvrtcAddNameExpression);
  HEDDLE_NVRTC(nvrtcGetLoweredName);
  HEDDLE_NVRTC(nvrtcGetPTXSize);
  HEDDLE_NVRTC(nvrtcGetPTX);
  HEDDLE_NVRTC(nvrtcGetCUBINSize);
  HEDDLE_NVRTC(nvrtcGetCUBIN);
  HEDDLE_NVRTC(nvrtcGetProgramLogSize);
  HEDDLE_NVRTC(nvrtcGetProgramLog);
#undef HEDDLE_NVRTC
  return missing;
}

/// NVRTC opens its builtins library by bare name. Loading the file in NVRTC's own folder first
/// makes NVRTC find the matching one, wherever the two are installed.
std::string load_builtins(const std::string& nvrtc_path, int major, int minor) {
  const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
  const std::string beside = (std::filesystem::path(nvrtc_path).parent_path() / name).string();
  if (dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
  if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
  return fmt::format(
      "{} needs {}, which is neither beside it nor on the system's search path. Install both from "
      "the same CUDA release.",
      nvrtc_path, name);
}

LibraryRequest request() {
  LibraryRequest out{.title = "NVRTC",
                     .names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"},
                     .packages = {"cuda_nvrtc"},
                     .variable = ir::Variable::nvrtc};
  // A driver of an older major release may reject machine code of a newer one.
  constexpr int first_13 = 13000;
  if (cuda::available() && cuda::driver_version() < first_13) {
    std::rotate(out.names.begin(), out.names.begin() + 1, out.names.begin() + 2);
  }
  return out;
}

std::string load(Loaded& out) {
  LibraryReport report;
  const auto library = DynamicLibrary::open(request(), &report);
  if (!library) {
    return report.text() +
           "Install the CUDA toolkit's NVRTC (pip install nvidia-cuda-nvrtc), or set HEDDLE_NVRTC "
           "to its file or HEDDLE_CUDA_PATH to the toolkit.";
  }
  out.path = library->path();
  if (const std::string missing = bind(*library, out.api); !missing.empty()) {
    return fmt::format("{} is too old: it lacks{}", out.path, missing);
  }
  int major = 0, minor = 0;
  out.api.nvrtcVersion(&major, &minor);
  if (std::string reason = load_builtins(out.path, major, minor); !reason.empty()) return reason;
  out.version = fmt::format("{}.{} build {}", major, minor, library->build_id());
  int count = 0;
  out.api.nvrtcGetNumSupportedArchs(&count);
  out.architectures.resize(static_cast<std::size_t>(count));
  out.api.nvrtcGetSupportedArchs(out.architectures.data());
  std::sort(out.architectures.begin(), out.architectures.end());
  return {};
}

const Loaded& loaded() {
  static constinit ir::LazyStatic<Loaded> instance;
  return instance.get([] {
    Loaded made;
    made.reason = load(made);
    return made;
  });
}

const Loaded& require() {
  const Loaded& state = loaded();
  if (!state.reason.empty()) {
    throw DeviceError(fmt::format("kernels cannot be compiled for a GPU: {}", state.reason));
  }
  return state;
}

/// Owns an nvrtcProgram.
class ProgramOwner {
 public:
  ProgramOwner(const Api& api, const Unit& unit) : api_(api) {
    std::vector<const char*> texts, names;
    for (const Header& header : unit.headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    const Result result =
        api.nvrtcCreateProgram(&program_, unit.source.c_str(), unit.file.c_str(),
                               static_cast<int>(texts.size()), texts.data(), names.data());
    if (result != Result::success) {
      throw DeviceError(
          fmt::format("nvrtcCreateProgram failed: {}", api.nvrtcGetErrorString(result)));
    }
  }
  ~ProgramOwner() { api_.nvrtcDestroyProgram(&program_); }
  ProgramOwner(const ProgramOwner&) = delete;
  ProgramOwner& operator=(const ProgramOwner&) = delete;
  Program get() const { return program_; }

  using Size = Result (*)(Program, std::size_t*);
  using Read = Result (*)(Program, char*);
  std::string read(Size size, Read read) const {
    std::size_t bytes = 0;
    size(program_, &bytes);
    std::string out(bytes, '\0');
    if (bytes > 0) read(program_, out.data());
    return out;
  }
  /// NVRTC's texts include a terminating zero, which is removed.
  std::string read_text(Size size, Read get) const {
    std::string out = read(size, get);
    if (!out.empty() && out.back() == '\0') out.pop_back();
    return out;
  }

 private:
  const Api& api_;
  Program program_ = nullptr;
};

/// 90 for "sm_90" and "sm_90a"; -1 for anything else.
int capability(std::string_view architecture) {
  constexpr std::string_view prefix = "sm_";
  if (!architecture.starts_with(prefix)) return -1;
  const std::string_view digits = architecture.substr(prefix.size());
  int out = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

}  // namespace

bool available() { return loaded().reason.empty(); }

const std::string& unavailable_reason() { return loaded().reason; }

void prefetch() {
  static auto* const loader = new std::thread;
  static std::once_flag once;
  std::call_once(once, [] {
    *loader = std::thread([] { loaded(); });
    ir::in_forked_child([] { new (loader) std::thread; });
    // Joins the loader before the process unloads libraries at exit.
    std::atexit([] {
      if (loader->joinable()) loader->join();
    });
  });
}

std::string version() { return require().version; }

std::string path() { return require().path; }

const std::vector<int>& supported_architectures() { return require().architectures; }

Choice choose_architecture(std::string_view architecture, const std::vector<int>& known,
                           std::string_view version) {
  const int wanted = capability(architecture);
  if (std::find(known.begin(), known.end(), wanted) != known.end()) {
    // Machine code for sm_90 runs on sm_90 only. So does that for sm_90a, which may use wgmma.
    constexpr std::string_view own = "sm_90";
    return {BinaryKind::cubin, std::string(architecture) + (architecture == own ? "a" : "")};
  }
  int best = -1;
  for (const int each : known) {
    if (each <= wanted) best = std::max(best, each);
  }
  if (best < 0) {
    throw DeviceError(fmt::format(
        "NVRTC {} does not compile for {}: it supports compute capabilities {}. {}", version,
        architecture, fmt::join(known, ", "),
        wanted < 0 ? "Name the architecture as sm_90."
                   : "This GPU needs an older CUDA release's NVRTC (set HEDDLE_NVRTC)."));
  }
  return {BinaryKind::ptx, fmt::format("compute_{}", best)};
}

std::vector<std::string> option_list(const Options& options) {
  std::vector<std::string> out = {"--std=c++17", "-default-device"};
  out.emplace_back(options.contract ? "--fmad=true" : "--fmad=false");
  if (options.approximate) {
    out.emplace_back("--prec-div=false");
    out.emplace_back("--prec-sqrt=false");
    out.emplace_back("--define-macro=HD_APPROXIMATE");
  }
  if (options.line_info) out.emplace_back("-lineinfo");
  out.insert(out.end(), options.extra.begin(), options.extra.end());
  return out;
}

UnitResult compile_unit(const Unit& unit, std::string_view architecture) {
  const Loaded& state = require();
  const Api& api = state.api;
  const Choice choice = choose_architecture(architecture, state.architectures, state.version);
  if (choice.kind == BinaryKind::ptx) {
    static std::once_flag once;
    std::call_once(once, [&] {
      log().warn(
          "NVRTC {} does not support {}; kernels are compiled to PTX for {}, which the driver "
          "compiles. With a newer NVRTC, first calls are faster.",
          state.version, architecture, choice.option_value);
    });
  }
  UnitResult out;
  out.options = unit.options;
  out.options.push_back("--gpu-architecture=" + choice.option_value);
  std::vector<const char*> options;
  for (const std::string& option : out.options) options.push_back(option.c_str());

  const ir::ForkSection section;  // NVRTC has internal locks
  const ProgramOwner program(api, unit);
  // False if NVRTC refuses the name expression, which the log then says.
  const auto accepts = [&](Result result, const char* call, const std::string& expression) {
    if (result == Result::success) return true;
    out.compiled = false;
    out.binary.log = fmt::format("{} failed for the name expression {}: {}", call, expression,
                                 api.nvrtcGetErrorString(result));
    return false;
  };
  for (const std::string& expression : unit.expressions) {
    if (!accepts(api.nvrtcAddNameExpression(program.get(), expression.c_str()),
                 "nvrtcAddNameExpression", expression))
      return out;
  }
  const Result result =
      api.nvrtcCompileProgram(program.get(), static_cast<int>(options.size()), options.data());
  Binary& binary = out.binary;
  binary.log = program.read_text(api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog);
  if (result != Result::success) {
    if (binary.log.empty()) binary.log = api.nvrtcGetErrorString(result);
    return out;
  }
  out.compiled = true;
  binary.kind = choice.kind;
  binary.architecture = choice.option_value;
  binary.bytes = choice.kind == BinaryKind::cubin
                     ? program.read(api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN)
                     : program.read(api.nvrtcGetPTXSize, api.nvrtcGetPTX);
  for (const std::string& expression : unit.expressions) {
    const char* symbol = nullptr;
    if (!accepts(api.nvrtcGetLoweredName(program.get(), expression.c_str(), &symbol),
                 "nvrtcGetLoweredName", expression))
      return out;
    out.symbols.emplace_back(symbol);
  }
  if (!binary.log.empty()) log().debug("NVRTC on {}: {}", unit.file, binary.log);
  return out;
}

Binary compile(std::string_view source, const std::string& name, std::string_view architecture,
               const Options& options) {
  const Loaded& state = require();
  const auto failure = [&](const std::string& log, const std::vector<std::string>& list) {
    return CompileFailure(
        compile_message(name, fmt::format("NVRTC {}", state.version), list, log, source), name,
        nvrtc_reproduction(state.path, {name + ".cu", std::string(source)}, list));
  };
  if (fault::point(fault::Kind::compile)) throw failure("injected fault", option_list(options));
  const std::string file =
      options.line_info ? source_path(options.source_folder, name, ".cu") : name;
  UnitResult result = compile_unit({std::string(source), file, option_list(options)}, architecture);
  if (!result.compiled) throw failure(result.binary.log, result.options);
  return std::move(result.binary);
}

}  // namespace heddle::runtime::nvrtc
