#pragma once

#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace heddle::runtime {

struct ProcessResult {
  int status = -1;     ///< exit status; 128 + N when ended by signal N; -1 when it did not start
  std::string output;  ///< standard output and error, interleaved; if it did not start, the reason
};

/// A running program, found on PATH, with no standard input. It has its own process group, so that
/// Ctrl-C reaches only this process, which may catch it and continue. Its TMPDIR is
/// `temporary_folder` if that is not empty. The group is killed when the thread that started it
/// ends, and therefore also when this process is killed.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command,
                   const std::string& temporary_folder = "");
  /// Kills the group if the program has not ended.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool ended() const { return output_end_ < 0; }
  /// Valid once the program has ended.
  ProcessResult& result() { return result_; }

  /// Waits until one of the processes writes or ends, or interrupt_interval has passed.
  static void wait_for_any(std::span<Process* const> processes);

 private:
  void take_output();
  void reap();

  pid_t process_ = 0;
  int output_end_ = -1;  ///< read end of the pipe that the program writes to; -1 when it has ended
  ProcessResult result_;
};

/// Runs a program and waits for it. If the wait is interrupted, kills the program and throws
/// Interrupted.
ProcessResult run_process(const std::vector<std::string>& command);

}  // namespace heddle::runtime
