#include "runtime/reproducer.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "ir/fork_gate.h"
#include "runtime/cache/store.h"
#include "runtime/dynamic_library.h"
#include "runtime/fault.h"

namespace heddle::runtime {

namespace fs = std::filesystem;

namespace {

/// What NVRTC says to a file: LIBRARY FILE OPTIONS.
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

/// What the driver says to a module: LIBRARY FILE.
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

/// What the system's loader says to an object: FILE.
constexpr const char* loader_program = R"(#include <dlfcn.h>
#include <iostream>

int main(int, char** words) {
  if (dlopen(words[1], RTLD_NOW) != nullptr) return 0;
  return std::cerr << dlerror() << '\n', 1;
}
)";

std::string build_and_run(const std::string& arguments) {
  return "c++ -w reproduce.cpp -o reproduce -ldl || exit 2\nexec ./reproduce " + arguments + "\n";
}

std::string driver_path() {
  for (const LibraryReport& report : library_reports()) {
    if (report.title.starts_with("the CUDA driver") && !report.path.empty()) return report.path;
  }
  return "libcuda.so.1";
}

/// Folders that may hold reproducers, the best first.
std::vector<fs::path> parents() {
  std::vector<fs::path> folders;
  if (const char* const dumps = std::getenv("HEDDLE_DUMP_DIR"); dumps != nullptr && *dumps != '\0')
    folders.emplace_back(dumps);
  const cache::StoreOptions& cache = cache::Store::global().options();
  if (cache.enabled && !cache.directory.empty())
    folders.push_back(fs::path(cache.directory) / "reproducers");
  return folders;
}

/// A folder of the process's own for what has no better place; one for each name.
fs::path temporary_folder(const std::string& name) {
  static constinit ir::Mutex mutex;
  static auto* const made = new std::map<std::string, std::string>;
  const std::lock_guard lock(mutex);
  std::string& path = (*made)[name];
  if (!path.empty()) return path;
  std::string pattern = (fs::temp_directory_path() / "heddle-reproducer-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), pattern);
  return path = pattern;
}

void write(const fs::path& folder, const Reproduction& reproduction) {
  fs::create_directories(folder);
  for (const Reproduction::File& file : reproduction.files) {
    std::ofstream out(folder / file.name, std::ios::binary);
    out.write(file.text.data(), static_cast<std::streamsize>(file.text.size()));
    out.close();
    if (out.fail() || fault::point(fault::Kind::file))
      throw std::system_error(std::make_error_code(std::errc::io_error),
                              (folder / file.name).string());
  }
}

std::string folder_name(std::string name) {
  constexpr std::size_t longest = 150;
  std::replace(name.begin(), name.end(), '/', '_');
  return name.substr(0, longest);
}

}  // namespace

std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char letter : word)
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

Reproduction nvrtc_reproduction(const std::string& library, Reproduction::File source,
                                const std::vector<std::string>& options) {
  const std::string folder = fs::path(library).parent_path().string();
  std::string arguments = shell_word(library) + " " + shell_word(source.name);
  for (const std::string& option : options) arguments += " " + shell_word(option);
  Reproduction result;
  result.script = "export LD_LIBRARY_PATH=" + shell_word(folder) + ":\"$LD_LIBRARY_PATH\"\n" +
                  build_and_run(arguments);
  result.files = {std::move(source), {"reproduce.cpp", nvrtc_program}};
  return result;
}

Reproduction load_reproduction(const ModuleImage& module) {
  if (module.kind == cache::PayloadKind::host_object) {
    return {{{"kernels.so", module.bytes}, {"reproduce.cpp", loader_program}},
            build_and_run("./kernels.so")};
  }
  const std::string file = module.kind == cache::PayloadKind::ptx ? "kernel.ptx" : "kernel.cubin";
  return {{{file, module.bytes}, {"reproduce.cpp", driver_program}},
          build_and_run(shell_word(driver_path()) + " " + file)};
}

std::string lines_of_kernel(const ir::Graph& graph, const passes::Program& program,
                            std::string_view kernel) {
  const std::vector<ir::ValueId> order = ir::shared_order(graph);
  std::vector<std::string> lines;
  for (const passes::Step& step : program.steps) {
    const passes::KernelStep& launch =
        step.matmul.stand_by ? step.matmul.stand_by->kernel : step.kernel;
    bool launches = (step.kind == passes::Step::Kind::kernel || step.matmul.stand_by) &&
                    program.kernel_names[launch.kernel] == kernel;
    if (step.sort.kernels) {
      for (const passes::SortKernels::Kernel& one : step.sort.kernels->kernels)
        launches |= program.kernel_names[one.kernel] == kernel;
    }
    if (!launches) continue;
    for (const std::uint32_t origin : step.origins) {
      const ir::Node& node = graph.node(order.at(origin));
      std::string line =
          fmt::format("  {} {}\n", node.location.to_string(), ir::info(node.op).name);
      if (node.location.file == nullptr) line = fmt::format("  {}\n", ir::info(node.op).name);
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  }
  std::string text = lines.empty() ? "" : "It computes:\n";
  for (const std::string& line : lines) text += line;
  return text;
}

std::string write_reproducer(const std::string& name, Reproduction reproduction,
                             const RecordedProgram& program, const ir::Target& target,
                             const std::string& message) {
  const std::string again =
      "heddle warm program.hdr --cache again --arch " + shell_word(to_string(target));
  reproduction.files.push_back({"program.hd", ir::print(program.graph, {.locations = true})});
  reproduction.files.push_back({"program.hdr", recording_of(program)});
  reproduction.files.push_back(
      {"error.txt", message + "\nThe program makes it again by\n  " + again + "\n"});
  reproduction.files.push_back(
      {"reproduce.sh", "#!/bin/sh\n# The program makes this again by\n#   " + again +
                           "\ncd \"$(dirname \"$0\")\" || exit 2\n" + reproduction.script});
  std::string why;
  const auto attempt = [&](const auto& folder_of) -> std::string {
    try {
      const fs::path folder = folder_of();
      write(folder, reproduction);
      return fmt::format("To reproduce it: sh {}, or in that folder {}\n",
                         shell_word((folder / "reproduce.sh").string()), again);
    } catch (const std::system_error& failure) {
      why += fmt::format("{}{}", why.empty() ? "" : "; ", failure.what());
      return {};
    }
  };
  for (const fs::path& parent : parents()) {
    std::string told = attempt([&] { return parent / folder_name(name); });
    if (!told.empty()) return told;
  }
  std::string told = attempt([&] { return temporary_folder(name); });
  if (!told.empty()) return told;
  return fmt::format("There is no reproducer, as its files cannot be written: {}\n", why);
}

}  // namespace heddle::runtime
