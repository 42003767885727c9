#pragma once

#include <cstddef>
#include <string>

namespace heddle::runtime {

/// The progress line for kernels being compiled: "heddle: compiling 312 of 10,314 kernels". It is
/// shown on standard error from two seconds after the first compile began until all have ended, and
/// is then erased. No line is shown if HEDDLE_PROGRESS=0 or standard error is not a terminal.
class CompileProgress {
 public:
  /// Adds kernels to the total. The counts are reset when no instance is left.
  explicit CompileProgress(std::size_t kernels);
  ~CompileProgress();
  CompileProgress(const CompileProgress&) = delete;
  CompileProgress& operator=(const CompileProgress&) = delete;

  /// Counts this many kernels as compiled.
  void done(std::size_t kernels);
  /// Sets additional text for the line: "program 3 of 40".
  static void set_note(std::string note);
  /// Redraws the line if it is due. Called while compilers run.
  static void refresh();
};

}  // namespace heddle::runtime
