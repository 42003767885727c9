#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/types/target.h"
#include "passes/program/program.h"
#include "runtime/compile/options.h"
#include "runtime/compile/recording.h"

/// A folder with everything needed to reproduce a failure without the program that caused it.
namespace heddle::runtime {

struct Reproduction {
  struct File {
    std::string name, text;
  };
  std::vector<File> files;
  std::string script;  ///< run with sh in the folder of the files; fails in the same way
};

/// Quotes a word for sh.
std::string shell_word(std::string_view word);
/// A script that builds reproduce.cpp, one of the files, and runs it.
std::string build_and_run(const std::string& arguments);

/// "It computes:\n  model.cpp:12 subtract\n": the user's source lines that the kernel computes.
std::string lines_of_kernel(const ir::Graph& graph, const passes::Program& program,
                            std::string_view kernel);

/// Writes a folder NAME with the files, reproduce.sh, the program as program.hd (its graph with the
/// user's source locations) and program.hdr (with its modes, for `heddle warm`), and `message` as
/// error.txt. The folder is in HEDDLE_DUMP_DIR, else in reproducers/ of the cache folder, else in a
/// new temporary folder. Returns text for the user: where the folder is and how to run it, or why
/// there is none.
std::string write_reproducer(const std::string& name, Reproduction reproduction,
                             const RecordedProgram& program, const ir::Target& target,
                             const std::string& message);

}  // namespace heddle::runtime
