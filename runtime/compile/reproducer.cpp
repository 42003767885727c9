#include "runtime/compile/reproducer.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "ir/base/new_file.h"
#include "runtime/base/fault.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/cache/store.h"

namespace heddle::runtime {

namespace fs = std::filesystem;

namespace {

/// Candidate folders for reproducers, the best first.
std::vector<fs::path> parents() {
  std::vector<fs::path> folders;
  if (const std::string dumps = ir::environment(ir::Variable::dump_dir); !dumps.empty())
    folders.emplace_back(dumps);
  const cache::StoreOptions& cache = cache::Store::global().options();
  if (cache.enabled && !cache.directory.empty())
    folders.push_back(fs::path(cache.directory) / "reproducers");
  return folders;
}

/// A temporary folder of the process, the last resort; one for each name.
fs::path temporary_folder(const std::string& name) {
  static constinit ir::Mutex mutex;
  static auto* const made = new std::map<std::string, std::string>;
  const std::lock_guard lock(mutex);
  std::string& path = (*made)[name];
  if (path.empty()) path = make_temporary_folder("heddle-reproducer-");
  return path;
}

void write(const fs::path& folder, const Reproduction& reproduction) {
  for (const Reproduction::File& file : reproduction.files) {
    const std::string path = (folder / file.name).string();
    int error = ir::write_new_file(path, file.text);
    if (fault::point(fault::Kind::file)) error = EIO;
    if (error != 0) throw std::system_error(error, std::generic_category(), path);
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

std::string build_and_run(const std::string& arguments) {
  return "c++ -w reproduce.cpp -o reproduce -ldl || exit 2\nexec ./reproduce " + arguments + "\n";
}

std::string lines_of_kernel(const ir::Graph& graph, const passes::Program& program,
                            std::string_view kernel) {
  const std::vector<ir::ValueId> order = ir::shared_order(graph);
  std::vector<std::string> lines;
  for (const passes::Step& step : program.steps) {
    bool launches = false;
    passes::for_each_kernel(step, [&](const passes::KernelStep& one) {
      launches |= program.kernel_names[one.kernel] == kernel;
    });
    if (!launches) continue;
    for (const std::uint32_t origin : step.origins) {
      const ir::Node& node = graph.node(order.at(origin));
      const std::string_view op = graph.op_name(order.at(origin));
      std::string line = fmt::format("  {} {}\n", node.location.to_string(), op);
      if (node.location.file == nullptr) line = fmt::format("  {}\n", op);
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
      {"error.txt", message + "\nTo reproduce it from the program:\n  " + again + "\n"});
  reproduction.files.push_back(
      {"reproduce.sh", "#!/bin/sh\n# To reproduce this from the program:\n#   " + again +
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
  return fmt::format("There is no reproducer, because its files cannot be written: {}\n", why);
}

}  // namespace heddle::runtime
