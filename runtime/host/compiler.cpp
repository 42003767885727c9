#include "runtime/host/compiler.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/fault.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/log.h"
#include "runtime/base/process.h"
#include "runtime/base/temporary_folder.h"
#include "runtime/compile/compile_error.h"
#include "runtime/compile/compile_jobs.h"
#include "runtime/compile/compile_progress.h"
#include "runtime/compile/kept_sources.h"

namespace heddle::runtime::host {

namespace {

struct Found {
  Compiler compiler;
  std::string reason;  ///< empty if there is a compiler
};

/// "Debian clang version 14.0.6" or "(Debian 12.2.0-14) 12.2.0": the first line of the output. For
/// GCC without the first word, which is the name of the invoked program.
std::string version_of(const std::string& output, bool clang) {
  std::string line = output.substr(0, output.find('\n'));
  if (!clang) line.erase(0, std::min(line.size(), line.find(' ') + 1));
  return line;
}

/// Splits a command into words; the path of an existing file is one word, even if it contains
/// blanks.
std::vector<std::string> words_of(const std::string& command) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(command, ignored)) return {command};
  std::istringstream text(command);
  return {std::istream_iterator<std::string>(text), {}};
}

Found find() {
  std::vector<std::string> candidates = {"c++", "g++", "clang++"};
  if (const std::string named = ir::environment(ir::Variable::cxx);
      named.find_first_not_of(" \t\n") != std::string::npos)
    candidates = {named};
  Found out;
  for (const std::string& candidate : candidates) {
    const std::vector<std::string> words = words_of(candidate);
    const auto first_option =
        std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
    out.compiler.program.assign(words.begin(), first_option);
    out.compiler.options.assign(first_option, words.end());
    if (out.compiler.program.empty()) {
      out.reason += fmt::format("  {}: does not name a program\n", candidate);
      continue;
    }
    std::vector<std::string> asking = out.compiler.program;
    asking.emplace_back("--version");
    const ProcessResult result = run_process(asking);
    if (result.status == 0 && !result.output.empty()) {
      out.compiler.clang = result.output.find("clang") != std::string::npos;
      out.compiler.version = version_of(result.output, out.compiler.clang);
      out.reason.clear();
      log().debug("host compiler {}: {}", candidate, out.compiler.version);
      return out;
    }
    out.reason += fmt::format(
        "  {}: {}\n", candidate,
        result.status < 0 ? result.output : fmt::format("exit status {}", result.status));
  }
  out.reason = "no working C++ compiler was found. Tried:\n" + out.reason +
               "Install g++ or clang++, or set HEDDLE_CXX to one.";
  return out;
}

const Found& found() {
  static constinit ir::LazyStatic<Found> instance;
  return instance.get(find);
}

const Compiler& require() {
  if (!found().reason.empty()) throw DeviceError(found().reason);
  return found().compiler;
}

std::string file_name(std::size_t index, const std::string& name) {
  constexpr std::size_t longest = 100;
  std::string out = fmt::format("{}_{}", index, name.substr(0, longest));
  for (char& c : out) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return out + ".cpp";
}

/// Quotes any text as a C++ string literal.
std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_plain = code >= 0x20 && code != 0x7f && c != '"' && c != '\\';
    out += is_plain ? std::string(1, c) : fmt::format("\\{:03o}", code);
  }
  return out + "\"";
}

bool write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return !file.fail() && !fault::point(fault::Kind::file);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void erase_all(std::string& text, const std::string& what) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.erase(at, what.size());
}

/// The index of the unit whose file the log mentions first.
std::size_t first_named(const std::string& log, const std::vector<std::string>& files) {
  std::size_t best = 0, best_at = std::string::npos;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::size_t at = log.find(files[i]);
    if (at < best_at) {
      best = i;
      best_at = at;
    }
  }
  return best;
}

/// A reproducer with the same files and command.
Reproduction reproduction_of(std::span<const Unit> units, const std::vector<std::string>& files,
                             const std::vector<std::string>& command, const std::string& folder) {
  Reproduction result;
  for (std::size_t i = 0; i < units.size(); ++i) result.files.push_back({files[i], units[i].text});
  result.script = "exec";
  for (const std::string& word : command) {
    if (word.starts_with("-ffile-prefix-map=")) continue;
    const bool inside = word.starts_with(folder + "/");
    result.script += " " + shell_word(inside ? word.substr(folder.size() + 1) : word);
  }
  result.script += "\n";
  return result;
}

/// One run of the compiler: its files, its command, and its output.
class Compilation {
 public:
  Compilation(std::span<const Unit> units, const ir::Target& target, const Options& options)
      : units_(units),
        options_(options),
        compiler_(require()),
        list_(option_list(compiler_, target, options)) {
    command_ = compiler_.program;
    command_.insert(command_.end(), list_.begin(), list_.end());
    command_.push_back("-ffile-prefix-map=" + folder_.path() + "=.");
    command_.insert(command_.end(), {"-o", object()});
    for (const Unit& unit : units) add(unit);
    // Libraries come after the objects, because the linker takes from a library only symbols that
    // are undefined by then. With GCC, libm itself references libmvec.
    if (compiler_.clang) command_.emplace_back("-lmvec");
    command_.insert(command_.end(), {"-lm", "-lgcc", "-lc"});
  }

  const std::vector<std::string>& command() const { return command_; }
  /// The folder for the source files and the compiler's temporary files.
  const std::string& folder() const { return folder_.path(); }

  /// The bytes of the object. Throws CompileFailure.
  std::string take(ProcessResult result) const {
    std::string bytes = result.status == 0 ? read_file(object()) : std::string();
    if (!bytes.empty()) return bytes;
    if (result.status == 0) {
      result.output += fmt::format(
          "{} ended without an error but made no object file: it is not a C++ compiler, or its "
          "options suppress output. Set HEDDLE_CXX to another compiler.",
          compiler_.name());
    }
    throw failure(std::move(result));
  }

  CompileFailure failure(ProcessResult result) const {
    erase_all(result.output, folder_.path() + "/");
    std::vector<std::string> named = files_;
    for (std::size_t i = 0; options_.line_info && i < files_.size(); ++i)
      named[i] = source_path(options_.source_folder, units_[i].name, ".cpp");
    const Unit& unit = units_[first_named(result.output, named)];
    return {compile_message(unit.name, fmt::format("{} ({})", compiler_.name(), compiler_.version),
                            list_, fmt::format("{}\nexit status {}", result.output, result.status),
                            unit.text),
            unit.name, reproduction_of(units_, files_, command_, folder_.path())};
  }

 private:
  std::string object() const { return folder_.path() + "/kernels.so"; }

  void add(const Unit& unit) {
    files_.push_back(file_name(files_.size(), unit.name));
    command_.push_back(folder_.path() + "/" + files_.back());
    const std::string line =
        options_.line_info
            ? fmt::format("#line 1 {}\n",
                          string_literal(source_path(options_.source_folder, unit.name, ".cpp")))
            : std::string();
    if (!write_file(command_.back(), line + unit.text)) {
      throw DeviceError(
          fmt::format("{} cannot be written; kernels for the CPU are compiled there (set TMPDIR to "
                      "another folder)",
                      command_.back()));
    }
  }

  std::span<const Unit> units_;
  const Options& options_;
  const Compiler& compiler_;
  TemporaryFolder folder_;
  std::vector<std::string> list_, files_, command_;
};

/// A batch being compiled. Members are destroyed in reverse order: the compiler is killed first,
/// then its folder is removed.
struct Running {
  std::size_t index = 0;
  CompileJob job;
  std::unique_ptr<Compilation> compilation;
  std::unique_ptr<Process> process;
};

void wait_for_any(std::span<const Running> running) {
  std::vector<Process*> processes;
  for (const Running& each : running) processes.push_back(each.process.get());
  Process::wait_for_any(processes);
}

}  // namespace

std::string Compiler::name() const { return fmt::format("{}", fmt::join(program, " ")); }

const Compiler* find_compiler() { return found().reason.empty() ? &found().compiler : nullptr; }

const std::string& unavailable_reason() { return found().reason; }

std::vector<std::string> option_list(const Compiler& compiler, const ir::Target& target,
                                     const Options& options) {
  std::vector<std::string> out = {"-std=c++17", fmt::format("-O{}", options.level)};
  if (!target.architecture.empty()) out.push_back("-march=" + target.architecture);
  // GCC treats `on` as `off`. Generated code has one operation per statement, so contraction within
  // expressions would have no effect.
  out.emplace_back(options.contract ? "-ffp-contract=fast" : "-ffp-contract=off");
  // A short loop takes one line of the instruction cache, not parts of two.
  for (const char* each : {"-falign-loops=64", "-fno-math-errno", "-fno-trapping-math",
                           "-fno-exceptions", "-fPIC", "-shared", "-fvisibility=default", "-w"}) {
    out.emplace_back(each);
  }
  out.insert(out.end(), compiler.options.begin(), compiler.options.end());
  if (options.line_info) out.emplace_back("-g1");
  // Without AVX, clang would call the AVX variants, passing vectors in pairs of registers.
  if (compiler.clang && target.vector_bytes >= 32) out.emplace_back("-fveclib=libmvec");
  for (const char* each : {"-nostartfiles", "-nodefaultlibs"}) out.emplace_back(each);
  return out;
}

std::string identity(const ir::Target& target, const Options& options) {
  const Compiler& compiler = require();
  return fmt::format("{} {} {}", compiler.clang ? "clang" : "gcc", compiler.version,
                     fmt::join(option_list(compiler, target, options), " "));
}

void compile_batches(std::span<const std::vector<Unit>> batches, const ir::Target& target,
                     const Options& options,
                     const std::function<void(std::size_t, std::string)>& done) try {
  const InterruptibleWait waiting;
  std::vector<Running> running;
  const auto start = [&](std::size_t index, CompileJob job) {
    auto compilation = std::make_unique<Compilation>(batches[index], target, options);
    if (fault::point(fault::Kind::compile)) throw compilation->failure({1, "injected fault"});
    auto process = std::make_unique<Process>(compilation->command(), compilation->folder());
    running.push_back({index, std::move(job), std::move(compilation), std::move(process)});
  };
  for (std::size_t next = 0; next < batches.size() || !running.empty();) {
    if (running.empty()) start(next++, CompileJob::begin());
    while (next < batches.size()) {
      std::optional<CompileJob> job = CompileJob::try_begin();
      if (!job) break;
      start(next++, std::move(*job));
    }
    wait_for_any(running);
    check_interrupt();
    CompileProgress::refresh();
    for (std::size_t i = running.size(); i-- > 0;) {
      if (!running[i].process->ended()) continue;
      const Running ended = std::move(running[i]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      done(ended.index, ended.compilation->take(std::move(ended.process->result())));
    }
  }
} catch (const std::system_error& failure) {
  throw DeviceError(fmt::format("kernels for the CPU cannot be compiled: {}", failure.what()));
}

std::string compile(std::span<const Unit> units, const ir::Target& target, const Options& options) {
  const std::vector<Unit> batch(units.begin(), units.end());
  std::string out;
  compile_batches({&batch, 1}, target, options,
                  [&](std::size_t, std::string bytes) { out = std::move(bytes); });
  return out;
}

}  // namespace heddle::runtime::host
