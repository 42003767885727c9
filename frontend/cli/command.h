#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "runtime/execute/executable.h"

namespace heddle::cli {

/// Work of the chosen verb, set by that verb. Returns the exit code.
using Action = std::function<int()>;

// Each function adds a verb to the command line. If the verb is chosen, it sets `action`.
void add_show_verbs(CLI::App& app, Action& action);  ///< ir, cuda
void add_explain(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_warm(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);

/// Options of a verb for how a program is compiled.
struct Modes {
  bool strict = false, approximate = false;
  std::vector<std::string> disabled;
  std::vector<std::uint32_t> donated;

  void add_to(CLI::App& verb);
  /// Throws ValueError for an unknown pass or family, and for a parameter that does not exist.
  runtime::CompileOptions options(const ir::Graph& graph) const;
  /// True if the command line sets none of them.
  bool are_usual() const;
};

/// Adds an option --mode for a file's permissions, in octal.
void add_mode(CLI::App& verb, unsigned& mode, const char* what);

/// The text of a file; "-" is standard input. Throws FileError.
std::string read_text(const std::string& path);
/// The file's name in messages, kept for the lifetime of the process, as locations require.
const char* kept_name(const std::string& path);
/// Parses a graph in text form. Throws ParseError that names the file.
ir::Graph parse_program(const std::string& text, const std::string& path);
inline ir::Graph read_program(const std::string& path) {
  return parse_program(read_text(path), path);
}

/// The named target, or that of the current device. Throws ValueError.
ir::Target chosen_target(const std::string& name);

/// The targets that a command-line name denotes. A built-in target or a target's full text denotes
/// itself. An architecture ("sm_90") denotes all of its built-in targets, so that every machine of
/// that architecture is covered. Throws ValueError.
std::vector<std::string> targets_named(const std::string& name);

}  // namespace heddle::cli
