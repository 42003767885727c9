#include "runtime/base/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"
#include "ir/base/split.h"
#include "runtime/base/interrupt.h"

namespace heddle::runtime {

namespace {

/// PR_SET_PDEATHSIG signals a process when its parent dies, but not that process's children: a
/// compiler driver would die, and the compiler that it started would continue. So the signal goes
/// to a shell, which kills the whole process group.
constexpr const char* set_temporary_folder = "TMPDIR=$1; export TMPDIR; shift; ";
constexpr const char* supervisor = "trap 'kill -KILL 0' TERM; \"$@\" & wait $!";

bool is_program(const std::string& path) {
  struct stat facts{};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

/// The file that a shell would run for this name; empty if there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const std::string path = ir::environment(ir::Variable::path);
  for (const std::string_view folder : ir::split(path.empty() ? "/usr/bin:/bin" : path, ':')) {
    const std::string file = fmt::format("{}/{}", folder, name);
    if (is_program(file)) return file;
  }
  return {};
}

/// Duplicates a descriptor to a number above the three standard ones, which the child redirects,
/// and closes the original. Returns -1 with errno on failure.
int behind_standard(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

struct Start {
  char* const* arguments = nullptr;
  int input = -1, output = -1;
  pid_t parent = 0;
  int error = 0;
};

/// The child until it calls execve. It shares its parent's memory, and the parent's thread is
/// suspended (CLONE_VFORK), so it makes system calls only.
int become_program(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  const bool ready =
      setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 &&
      dup2(start.input, STDIN_FILENO) >= 0 && dup2(start.output, STDOUT_FILENO) >= 0 &&
      dup2(start.output, STDERR_FILENO) >= 0 && sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
  // A parent that died before prctl caused no signal.
  if (ready && getppid() == start.parent) execve(start.arguments[0], start.arguments, environ);
  start.error = errno;
  _exit(127);
}

/// Returns the child's process id, or -1 with `start.error`. Does not fork: a fork would copy the
/// page tables of a process that may be large, and would run the fork handlers of libraries.
pid_t start_child(Start& start) {
  constexpr std::size_t stack_bytes = 64 << 10;
  const auto stack =
      std::make_unique<std::array<std::max_align_t, stack_bytes / sizeof(std::max_align_t)>>();
  sigset_t all, before;
  sigfillset(&all);
  // No signal handler of this process may run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = clone(become_program, stack->data() + stack->size(),
                            CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
  if (child < 0) start.error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return child;
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    // If the program ignores SIGCHLD, the kernel reaps the children itself.
    if (errno != EINTR) return 0;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::string& temporary_folder) {
  const auto fail = [&](int error) {
    result_ = {-1, fmt::format("{}: {}", command[0], std::strerror(error))};
  };
  const std::string program = find_program(command[0]);
  if (program.empty()) {
    fail(ENOENT);
    return;
  }
  std::vector<std::string> words = {"/bin/sh", "-c", supervisor, "sh", program};
  if (!temporary_folder.empty()) {
    words[2] = std::string(set_temporary_folder) + supervisor;
    words.insert(words.begin() + 4, temporary_folder);
  }
  words.insert(words.end(), command.begin() + 1, command.end());
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);

  // A child forked now would keep the write end open, and the reader would wait for ever.
  const ir::ForkSection section;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail(errno);
    return;
  }
  for (int& end : ends) end = behind_standard(end);
  const int input = behind_standard(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Start start{arguments.data(), input, ends[1], getpid()};
  const bool has_files = ends[0] >= 0 && ends[1] >= 0 && input >= 0;
  if (!has_files) start.error = errno;
  const pid_t child = has_files ? start_child(start) : -1;
  if (input >= 0) close(input);
  if (ends[1] >= 0) close(ends[1]);
  if (child > 0 && start.error == 0) {
    process_ = child;
    output_end_ = ends[0];
    return;
  }
  if (ends[0] >= 0) close(ends[0]);
  if (child > 0) wait_for(child);
  fail(start.error);
}

Process::~Process() {
  if (ended()) return;
  kill(-process_, SIGKILL);
  // Read until all writers have closed the pipe, so that no file appears after this.
  while (!ended()) take_output();
}

void Process::take_output() {
  std::array<char, 4096> buffer;
  const ssize_t count = read(output_end_, buffer.data(), buffer.size());
  if (count > 0) {
    result_.output.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    reap();
  }
}

void Process::reap() {
  close(output_end_);
  output_end_ = -1;
  result_.status = wait_for(process_);
}

void Process::wait_for_any(std::span<Process* const> processes) {
  std::vector<pollfd> descriptors;
  for (const Process* process : processes) descriptors.push_back({process->output_end_, POLLIN, 0});
  poll(descriptors.data(), descriptors.size(), static_cast<int>(interrupt_interval.count()));
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (descriptors[i].revents != 0 && !processes[i]->ended()) processes[i]->take_output();
  }
}

ProcessResult run_process(const std::vector<std::string>& command) {
  Process process(command);
  Process* const all[] = {&process};
  const InterruptibleWait waiting;
  while (!process.ended()) {
    Process::wait_for_any(all);
    check_interrupt();
  }
  return std::move(process.result());
}

}  // namespace heddle::runtime
