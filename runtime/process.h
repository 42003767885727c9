#pragma once

#include <string>
#include <vector>

namespace heddle::runtime {

struct ProcessResult {
  int status = -1;     ///< exit status; 128 + N when ended by signal N; -1 when it did not start
  std::string output;  ///< standard output and error as they came; why, when it did not start
};

/// Runs a program, found on PATH, with no shell and no input, and waits for it.
ProcessResult run_process(const std::vector<std::string>& command);

/// A new empty folder under $TMPDIR or /tmp, removed with all that is in it.
class TemporaryFolder {
 public:
  /// Throws std::system_error.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace heddle::runtime
