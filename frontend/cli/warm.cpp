#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "frontend/cli/command.h"
#include "runtime/cache/store.h"
#include "runtime/compile.h"
#include "runtime/thread_pool.h"

namespace heddle::cli {

namespace {

struct WarmOptions {
  std::vector<std::string> programs, architectures;
  std::string cache;
  int jobs = 0;
  bool json = false;
  Modes modes;
};

/// A program for one name of --arch: its targets differ little, so what is compiled for the first
/// is mostly found by the others.
struct Task {
  std::string program, architecture;
  ir::Graph graph;
  std::vector<std::string> targets;
  std::vector<int> compiled;
};

void require_kept(const Task& task, const runtime::CompileOptions& options,
                  const ir::Target& target) {
  const auto& store = runtime::cache::Store::global();
  const std::string path =
      store.path_of(runtime::program_key(task.graph, runtime::with_environment(options), target));
  if (std::filesystem::exists(path)) return;
  throw FileError(
      fmt::format("{} for {} was compiled, but the cache in {} does not keep it: see that the "
                  "directory can be written and that HEDDLE_CACHE_SIZE suffices",
                  task.program, task.architecture, store.options().directory));
}

void run_task(Task& task, const Modes& modes) {
  const runtime::CompileOptions options = modes.options(task.graph);
  for (const std::string& name : task.targets) {
    const ir::Target target = ir::parse_target(name);
    task.compiled.push_back(runtime::warm(task.graph, options, target));
    require_kept(task, options, target);
  }
}

std::vector<Task> tasks_of(const WarmOptions& wanted) {
  std::vector<Task> tasks;
  for (const std::string& program : wanted.programs) {
    const ir::Graph graph = read_program(program);
    for (const std::string& architecture : wanted.architectures) {
      tasks.push_back({program, architecture, graph, targets_named(architecture), {}});
    }
  }
  return tasks;
}

void report(const std::vector<Task>& tasks, bool as_json) {
  nlohmann::json json = nlohmann::json::array();
  int compiled = 0;
  for (const Task& task : tasks) {
    for (std::size_t i = 0; i < task.targets.size(); ++i) {
      compiled += task.compiled[i];
      json.push_back(
          {{"program", task.program}, {"target", task.targets[i]}, {"compiled", task.compiled[i]}});
      if (as_json) continue;
      fmt::print("{}  {}: compiled {}\n", task.program, task.targets[i], task.compiled[i]);
    }
  }
  const std::string& directory = runtime::cache::Store::global().options().directory;
  if (as_json) {
    fmt::print(
        "{}\n",
        nlohmann::json({{"cache", directory}, {"compiled", compiled}, {"entries", json}}).dump(2));
  } else {
    fmt::print("compiled {} kernels into {}\n", compiled, directory);
  }
}

int warm(const WarmOptions& wanted) {
  // The process's cache and threads read these when they are first used.
  if (!wanted.cache.empty()) setenv("HEDDLE_CACHE_DIR", wanted.cache.c_str(), 1);
  if (wanted.jobs > 0) setenv("HEDDLE_NUM_THREADS", std::to_string(wanted.jobs).c_str(), 1);
  const auto& store = runtime::cache::Store::global();
  if (!store.options().enabled || store.options().directory.empty()) {
    throw ValueError("there is no cache to fill: give --cache DIR, and unset HEDDLE_CACHE=0");
  }
  std::vector<Task> tasks = tasks_of(wanted);
  // Kernels of one program compile in parallel by themselves, unless whole programs do.
  if (static_cast<int>(tasks.size()) < runtime::thread_count()) {
    for (Task& task : tasks) run_task(task, wanted.modes);
  } else {
    runtime::parallel_for(0, static_cast<std::int64_t>(tasks.size()), 1,
                          [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t i = begin; i < end; ++i) {
                              run_task(tasks[static_cast<std::size_t>(i)], wanted.modes);
                            }
                          });
  }
  report(tasks, wanted.json);
  return 0;
}

}  // namespace

void add_warm(CLI::App& app, Action& action) {
  const auto wanted = std::make_shared<WarmOptions>();
  CLI::App* verb = app.add_subcommand(
      "warm",
      "Compile programs into a cache directory, for machines that need not be here. A machine runs "
      "from it, without compiling, when its target is one of those named; 'heddle doctor' there "
      "prints it.");
  verb->add_option("programs", wanted->programs, "Graphs in text form")
      ->required()
      ->type_name("PROGRAM.hd");
  verb->add_option(
          "--arch", wanted->architectures,
          "Targets: sm_90 is every built-in board of that architecture, sm_90:h200 is one, "
          "x86-64-v3 is the CPU; or a target's full text")
      ->required()
      ->delimiter(',')
      ->type_name("TARGETS");
  verb->add_option("--cache", wanted->cache, "The directory; by default the one that programs use")
      ->type_name("DIR");
  verb->add_option("--jobs", wanted->jobs, "Compiles at a time; by default one a processor")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb->add_flag("--json", wanted->json, "Report as JSON");
  wanted->modes.add_to(*verb);
  verb->callback([&action, wanted] { action = [wanted] { return warm(*wanted); }; });
}

}  // namespace heddle::cli
