#include "runtime/cuda/reproduction.h"

#include <filesystem>

#include "runtime/base/dynamic_library.h"

namespace heddle::runtime {

namespace {

/// A program that compiles a file with NVRTC: LIBRARY FILE OPTIONS.
constexpr const char* nvrtc_program = R"(#include <dlfcn.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

int main(int count, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  if (library == nullptr) return std::cerr << dlerror() << '\n', 2;
  auto create = (int (*)(void**, const char*, const char*, int, const char* const*,
                         const char* const*))dlsym(library, "nvrtcCreateProgram");
  auto compile = (int (*)(void*, int, const char* const*))dlsym(library, "nvrtcCompileProgram");
  auto log_size = (int (*)(void*, size_t*))dlsym(library, "nvrtcGetProgramLogSize");
  auto log = (int (*)(void*, char*))dlsym(library, "nvrtcGetProgramLog");
  auto name = (const char* (*)(int))dlsym(library, "nvrtcGetErrorString");
  std::stringstream source;
  source << std::ifstream(words[2]).rdbuf();
  void* program = nullptr;
  create(&program, source.str().c_str(), words[2], 0, nullptr, nullptr);
  const int result = compile(program, count - 3, words + 3);
  size_t bytes = 0;
  log_size(program, &bytes);
  std::vector<char> text(bytes + 1);
  if (bytes > 0) log(program, text.data());
  std::cerr << text.data() << name(result) << '\n';
  return result != 0;
}
)";

/// A program that loads a module with the driver: LIBRARY FILE.
constexpr const char* driver_program = R"(#include <dlfcn.h>
#include <fstream>
#include <iostream>
#include <sstream>

int main(int, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  if (library == nullptr) return std::cerr << dlerror() << '\n', 2;
  auto init = (int (*)(unsigned))dlsym(library, "cuInit");
  auto retain = (int (*)(void**, int))dlsym(library, "cuDevicePrimaryCtxRetain");
  auto push = (int (*)(void*))dlsym(library, "cuCtxPushCurrent_v2");
  auto load = (int (*)(void**, const void*, unsigned, int*, void**))dlsym(library,
                                                                         "cuModuleLoadDataEx");
  auto name = (int (*)(int, const char**))dlsym(library, "cuGetErrorName");
  std::stringstream bytes;
  bytes << std::ifstream(words[2], std::ios::binary).rdbuf();
  void *context = nullptr, *module = nullptr;
  if (init(0) != 0 || retain(&context, 0) != 0 || push(context) != 0) return 2;
  static char log[4096];
  int options[] = {5, 6};  // the error log and its size
  void* values[] = {log, (void*)(sizeof log - 1)};
  const std::string image = bytes.str();
  const int result = load(&module, image.c_str(), 2, options, values);
  const char* text = "";
  name(result, &text);
  std::cerr << text << ' ' << log << '\n';
  return result != 0;
}
)";

std::string driver_path() {
  for (const LibraryReport& report : library_reports()) {
    if (report.title.starts_with("the CUDA driver") && !report.path.empty()) return report.path;
  }
  return "libcuda.so.1";
}

}  // namespace

Reproduction nvrtc_reproduction(const std::string& library, Reproduction::File source,
                                const std::vector<std::string>& options) {
  const std::string folder = std::filesystem::path(library).parent_path().string();
  std::string arguments = shell_word(library) + " " + shell_word(source.name);
  for (const std::string& option : options) arguments += " " + shell_word(option);
  Reproduction result;
  result.script = "export LD_LIBRARY_PATH=" + shell_word(folder) + ":\"$LD_LIBRARY_PATH\"\n" +
                  build_and_run(arguments);
  result.files = {std::move(source), {"reproduce.cpp", nvrtc_program}};
  return result;
}

Reproduction driver_reproduction(const ModuleImage& module) {
  const std::string file = module.kind == cache::PayloadKind::ptx ? "kernel.ptx" : "kernel.cubin";
  return {{{file, module.bytes}, {"reproduce.cpp", driver_program}},
          build_and_run(shell_word(driver_path()) + " " + file)};
}

}  // namespace heddle::runtime
