#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "frontend/cli/command.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/thread_pool.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/compile_progress.h"
#include "runtime/compile/recording.h"

namespace heddle::cli {

namespace cache = runtime::cache;

namespace {

struct WarmOptions {
  std::vector<std::string> programs, architectures;
  std::string cache;
  int jobs = 0;
  unsigned mode = 0;  ///< 0: not given
  bool json = false, dry_run = false;
  Modes modes;
};

/// One program for one name of --arch. The targets of a name differ little, so most of what is
/// compiled for the first target is reused by the others.
struct Task {
  std::string program, architecture;
  std::shared_ptr<const runtime::RecordedProgram> wanted;
  std::vector<std::string> targets;
  std::vector<int> compiled;
  std::string failure;
};

bool is_kept(const Task& task, const ir::Target& target) {
  const cache::Key key = runtime::program_key(
      task.wanted->graph, runtime::with_environment(task.wanted->options), target);
  return std::filesystem::exists(cache::Store::global().path_of(key));
}

/// Shows the number of finished programs in the progress line.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total) { show(); }
  void done() {
    ++done_;
    show();
  }

 private:
  void show() {
    runtime::CompileProgress::set_note(fmt::format("{} of {} programs done", done_.load(), total_));
  }

  runtime::CompileProgress open_{0};  ///< shown until all programs are done
  std::size_t total_;
  std::atomic<std::size_t> done_{0};
};

void compile(Task& task) {
  for (const std::string& name : task.targets) {
    const ir::Target target = ir::parse_target(name);
    task.compiled.push_back(runtime::warm(task.wanted->graph, task.wanted->options, target));
    if (is_kept(task, target)) continue;
    throw FileError(
        fmt::format("it was compiled, but the cache in {} does not keep it; check that the "
                    "directory is writable and HEDDLE_CACHE_SIZE is large enough",
                    cache::Store::global().options().directory));
  }
}

/// If a program cannot be compiled, the others still are.
void run_task(Task& task, Progress& progress) {
  try {
    compile(task);
  } catch (const Error& error) {
    task.failure = error.what();
  }
  progress.done();
}

/// The contents of a file: a graph in text form, with the command line's modes, or a recording.
std::vector<std::pair<std::string, runtime::RecordedProgram>> programs_in(const std::string& path,
                                                                          const Modes& modes) {
  const std::string text = read_text(path);
  std::vector<std::pair<std::string, runtime::RecordedProgram>> programs;
  if (!runtime::is_recording_text(text)) {
    ir::Graph graph = parse_program(text, path);
    const runtime::CompileOptions options = modes.options(graph);
    programs.push_back({path, {std::move(graph), options}});
    return programs;
  }
  if (!modes.are_usual())
    throw ValueError(fmt::format(
        "{} is a recording, which contains the modes of its programs; do not pass modes", path));
  for (runtime::RecordedProgram& program : runtime::parse_recording(text, kept_name(path)))
    programs.push_back({fmt::format("{}:{}", path, program.graph.name), std::move(program)});
  return programs;
}

std::vector<Task> tasks_of(const WarmOptions& wanted) {
  std::vector<Task> tasks;
  for (const std::string& path : wanted.programs) {
    for (auto& [name, program] : programs_in(path, wanted.modes)) {
      const auto shared = std::make_shared<const runtime::RecordedProgram>(std::move(program));
      for (const std::string& architecture : wanted.architectures)
        tasks.push_back({name, architecture, shared, targets_named(architecture), {}, {}});
    }
  }
  return tasks;
}

void run_tasks(std::vector<Task>& tasks) {
  Progress progress(tasks.size());
  // Kernels of one program are compiled in parallel, unless whole programs are.
  if (static_cast<int>(tasks.size()) < runtime::thread_count()) {
    for (Task& task : tasks) run_task(task, progress);
    return;
  }
  runtime::parallel_for(0, static_cast<std::int64_t>(tasks.size()), 1,
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i)
                            run_task(tasks[static_cast<std::size_t>(i)], progress);
                        });
}

/// Prints the results. Returns the exit status: 1 if anything failed.
int report(const std::vector<Task>& tasks, bool as_json) {
  nlohmann::json json = nlohmann::json::array();
  int compiled = 0;
  bool failed = false;
  for (const Task& task : tasks) {
    for (std::size_t i = 0; i < task.compiled.size(); ++i) {
      compiled += task.compiled[i];
      json.push_back(
          {{"program", task.program}, {"target", task.targets[i]}, {"compiled", task.compiled[i]}});
      if (!as_json)
        fmt::print("{}  {}: compiled {}\n", task.program, task.targets[i], task.compiled[i]);
    }
    if (task.failure.empty()) continue;
    failed = true;
    const std::string& target =
        task.targets[std::min(task.compiled.size(), task.targets.size() - 1)];
    json.push_back({{"program", task.program}, {"target", target}, {"error", task.failure}});
    if (!as_json) fmt::print(stderr, "heddle: {}  {}: {}\n", task.program, target, task.failure);
  }
  const std::string& directory = cache::Store::global().options().directory;
  if (as_json) {
    fmt::print(
        "{}\n",
        nlohmann::json({{"cache", directory}, {"compiled", compiled}, {"entries", json}}).dump(2));
  } else {
    fmt::print("compiled {} kernels into {}\n", compiled, directory);
  }
  return failed ? 1 : 0;
}

/// Lists what is in the cache and what would be compiled.
void report_plan(const std::vector<Task>& tasks, bool as_json) {
  nlohmann::json json = nlohmann::json::array();
  for (const Task& task : tasks) {
    for (const std::string& target : task.targets) {
      const bool kept = is_kept(task, ir::parse_target(target));
      json.push_back({{"program", task.program}, {"target", target}, {"kept", kept}});
      if (!as_json)
        fmt::print("{}  {}: {}\n", task.program, target, kept ? "cached" : "would be compiled");
    }
  }
  const std::string& directory = cache::Store::global().options().directory;
  if (as_json)
    fmt::print("{}\n", nlohmann::json({{"cache", directory}, {"entries", json}}).dump(2));
}

int warm(const WarmOptions& wanted) {
  // The process's cache and threads read these variables at their first use.
  if (!wanted.cache.empty()) setenv("HEDDLE_CACHE_DIR", wanted.cache.c_str(), 1);
  if (wanted.jobs > 0) {
    for (const char* variable : {"HEDDLE_NUM_THREADS", "HEDDLE_COMPILE_JOBS"})
      setenv(variable, std::to_string(wanted.jobs).c_str(), 1);
  }
  auto& store = cache::Store::global();
  if (!store.options().enabled || store.options().directory.empty()) {
    throw ValueError("there is no cache to fill: pass --cache DIR, and unset HEDDLE_CACHE=0");
  }
  // A separate folder is meant to be shipped; the cache that programs use stays private.
  const unsigned usual = wanted.cache.empty() ? 0600 : cache::shipped_mode;
  store.set_file_mode(wanted.mode != 0 ? wanted.mode : usual);
  std::vector<Task> tasks = tasks_of(wanted);
  if (wanted.dry_run) {
    report_plan(tasks, wanted.json);
    return 0;
  }
  run_tasks(tasks);
  return report(tasks, wanted.json);
}

}  // namespace

void add_warm(CLI::App& app, Action& action) {
  const auto wanted = std::make_shared<WarmOptions>();
  CLI::App* verb = app.add_subcommand(
      "warm",
      "Compile programs into a cache directory, also for other machines. A machine runs from the "
      "cache, without compiling, if its target is one of the given ones; 'heddle doctor' there "
      "prints it. Entries contain native code: whoever may write to the directory decides what its "
      "users run. HEDDLE_CACHE_KEY signs them.");
  verb->add_option("programs", wanted->programs,
                   "Graphs in text form, and recordings (HEDDLE_RECORD, hd::record)")
      ->required()
      ->type_name("FILES");
  verb->add_option("--arch", wanted->architectures,
                   "Targets: sm_90 for every built-in board of that architecture, sm_90:h200 for "
                   "one board, x86-64-v3 for the CPU; or a target's full text")
      ->required()
      ->delimiter(',')
      ->type_name("TARGETS");
  verb->add_option("--cache", wanted->cache,
                   "The cache directory; by default the one that programs use")
      ->type_name("DIR");
  add_mode(*verb, wanted->mode,
           "Permission bits of entries; by default 0644 (readable by everybody) with --cache, else "
           "0600");
  verb->add_option("--jobs", wanted->jobs,
                   "Number of parallel compilations; by default one for each processor")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  verb->add_flag("--dry-run", wanted->dry_run, "Print what is cached and what would be compiled");
  verb->add_flag("--json", wanted->json, "Print JSON");
  wanted->modes.add_to(*verb);
  verb->callback([&action, wanted] { action = [wanted] { return warm(*wanted); }; });
}

}  // namespace heddle::cli
