#pragma once

#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace heddle::runtime {

struct ProcessResult {
  int status = -1;     ///< exit status; 128 + N when ended by signal N; -1 when it did not start
  std::string output;  ///< standard output and error as they came; why, when it did not start
};

/// A running program, found on PATH, with no input, in a process group of its own: Ctrl-C is for
/// this process, which may catch it and go on. Its TMPDIR is `temporary_folder` where that is
/// given. The group is killed when the thread that started it ends, and so when this process is
/// killed.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command,
                   const std::string& temporary_folder = "");
  /// Kills the group where the program has not ended.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool ended() const { return output_end_ < 0; }
  /// Once it has ended.
  ProcessResult& result() { return result_; }

  /// Waits until one of them writes or ends, or interrupt_interval has passed.
  static void wait_for_any(std::span<Process* const> processes);

 private:
  void take_output();
  void reap();

  pid_t process_ = 0;
  int output_end_ = -1;  ///< of the pipe that it writes to
  ProcessResult result_;
};

/// Runs a program and waits for it. Throws Interrupted, and then the program is killed.
ProcessResult run_process(const std::vector<std::string>& command);

}  // namespace heddle::runtime
