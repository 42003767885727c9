#pragma once

#include <cstddef>
#include <string>

namespace heddle::runtime {

/// Kernels that are being compiled, for the line that tells a waiting user of them:
/// "heddle: compiling 312 of 10,314 kernels". It stands on the terminal that standard error is,
/// from two seconds after the first began until all have ended, and then vanishes.
/// HEDDLE_PROGRESS=0, or a standard error that is no terminal: no line.
class CompileProgress {
 public:
  /// Adds kernels to those that are being compiled. While one is alive, progress counts on.
  explicit CompileProgress(std::size_t kernels);
  ~CompileProgress();
  CompileProgress(const CompileProgress&) = delete;
  CompileProgress& operator=(const CompileProgress&) = delete;

  /// So many more have ended.
  void done(std::size_t kernels);
  /// What else the line says: "program 3 of 40".
  static void set_note(std::string note);
  /// Draws the line anew where it is due. Called while compilers run.
  static void refresh();
};

}  // namespace heddle::runtime
