#include "runtime/process.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "ir/fork_gate.h"

namespace heddle::runtime {

namespace {

/// Reads until every writer has closed the pipe.
std::string drain(int descriptor) {
  std::string out;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count > 0) {
      out.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return out;
    }
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    // A program that ignores SIGCHLD has its children reaped by the system.
    if (errno != EINTR) return 0;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Starts the command with its output going to `ends[1]`, of which no copy stays here.
int spawn(const std::vector<std::string>& command, std::array<int, 2>& ends, pid_t& process) {
  // A child that is forked now would keep the writer's end open, and the reader waiting.
  const ir::ForkSection section;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);

  // In a group of its own: Ctrl-C is for the program, which may catch it and go on.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const int error =
      posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  return error;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command) {
  std::array<int, 2> ends{-1, -1};
  pid_t process = 0;
  const int error = spawn(command, ends, process);
  ProcessResult out;
  if (error != 0) {
    out.output = fmt::format("{}: {}", command[0], std::strerror(error));
  } else {
    out.output = drain(ends[0]);
    out.status = wait_for(process);
  }
  if (ends[0] >= 0) close(ends[0]);
  return out;
}

TemporaryFolder::TemporaryFolder() {
  const char* root = std::getenv("TMPDIR");
  path_ = fmt::format("{}/heddle-XXXXXX", root != nullptr && *root != '\0' ? root : "/tmp");
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot make " + path_);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace heddle::runtime
