#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/types/target.h"
#include "passes/program/program.h"
#include "runtime/compile/options.h"
#include "runtime/compile/recording.h"

/// A folder with all that it takes to see a failure again without the program that met it.
namespace heddle::runtime {

struct Reproduction {
  struct File {
    std::string name, text;
  };
  std::vector<File> files;
  std::string script;  ///< for sh, in the folder of the files; fails as it failed here
};

/// A word as sh takes it for itself.
std::string shell_word(std::string_view word);
/// A script that builds a program, reproduce.cpp among the files, and runs it.
std::string build_and_run(const std::string& arguments);

/// "It computes:\n  model.cpp:12 subtract\n": the user's lines of what the kernel computes.
std::string lines_of_kernel(const ir::Graph& graph, const passes::Program& program,
                            std::string_view kernel);

/// Writes a folder NAME of the files, reproduce.sh, the program as program.hd (its graph with the
/// user's lines) and program.hdr (with its modes, for `heddle warm`), and `message` as error.txt:
/// in HEDDLE_DUMP_DIR, else in the cache's folder reproducers/, else in a new folder for temporary
/// files. Returns what to tell the user: where it is and how to run it, or why there is none.
std::string write_reproducer(const std::string& name, Reproduction reproduction,
                             const RecordedProgram& program, const ir::Target& target,
                             const std::string& message);

}  // namespace heddle::runtime
