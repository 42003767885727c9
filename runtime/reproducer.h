#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/target.h"
#include "passes/program.h"
#include "runtime/executable.h"
#include "runtime/image.h"
#include "runtime/recording.h"

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
/// Compiles `source`, a file among the reproduction's, by the NVRTC at `library`.
Reproduction nvrtc_reproduction(const std::string& library, Reproduction::File source,
                                const std::vector<std::string>& options);
/// Loads a module as the driver, or the system's loader, has refused to.
Reproduction load_reproduction(const ModuleImage& module);

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
