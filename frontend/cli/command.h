#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "runtime/execute/executable.h"

namespace heddle::cli {

/// Set by the verb that was chosen; what it returns is the exit code.
using Action = std::function<int()>;

// Each adds its verb to the command line; when it is chosen, `action` becomes its work.
void add_show_verbs(CLI::App& app, Action& action);  ///< ir, cuda
void add_explain(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_warm(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);

/// What a program is compiled for beside its graph, as options of a verb.
struct Modes {
  bool strict = false, approximate = false;
  std::vector<std::string> disabled;
  std::vector<std::uint32_t> donated;

  void add_to(CLI::App& verb);
  /// Throws ValueError for a name that is no pass or family, and for a parameter that is not there.
  runtime::CompileOptions options(const ir::Graph& graph) const;
  /// Whether the command line said nothing.
  bool are_usual() const;
};

/// An option --mode of a file's permissions, in octal.
void add_mode(CLI::App& verb, unsigned& mode, const char* what);

/// The text of a file; "-" is standard input. Throws FileError.
std::string read_text(const std::string& path);
/// What messages call a file, for as long as the process lives, as locations need it.
const char* kept_name(const std::string& path);
/// A graph in text form. Throws ParseError that names the file.
ir::Graph parse_program(const std::string& text, const std::string& path);
inline ir::Graph read_program(const std::string& path) {
  return parse_program(read_text(path), path);
}

/// The target that was named, else that of the device at hand. Throws ValueError.
ir::Target chosen_target(const std::string& name);

/// The targets that a name on the command line means: a built-in row or a target's full text is
/// itself, and an architecture ("sm_90") is all of its rows, so that whatever machine of it comes
/// is served. Throws ValueError.
std::vector<std::string> targets_named(const std::string& name);

}  // namespace heddle::cli
