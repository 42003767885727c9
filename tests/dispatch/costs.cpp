// What a call that was made before costs besides time: allocations, locks and system calls.

#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace {

struct Costs {
  long allocations = -1, locks = -1, system_calls = -1;
};

/// In the child: runs the program with its output in the pipe, stopped for its parent at each
/// system call.
[[noreturn]] void become_program(const std::string& name, int output) {
  dup2(output, STDOUT_FILENO);
  setenv("HEDDLE_DEVICE", "cpu", 1);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  execl(PROGRAM_THAT_DISPATCHES, PROGRAM_THAT_DISPATCHES, name.c_str(), nullptr);
  _exit(127);
}

/// The system calls of the child's first thread between its two getppid().
long count_system_calls(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  long count = 0;
  int markers = 0;
  bool entering = true;
  for (long signal = 0; ptrace(PTRACE_SYSCALL, child, nullptr, signal) == 0;) {
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) break;
    const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    signal = at_call || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    if (!at_call) continue;
    if (entering) {
      user_regs_struct registers{};
      ptrace(PTRACE_GETREGS, child, nullptr, &registers);
      const bool marker = registers.orig_rax == SYS_getppid;
      markers += marker ? 1 : 0;
      count += !marker && markers == 1 ? 1 : 0;
    }
    entering = !entering;
  }
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  REQUIRE(markers == 2);
  return count;
}

Costs costs_of(const std::string& name) {
  std::array<int, 2> output{};
  REQUIRE(pipe(output.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) become_program(name, output[1]);
  close(output[1]);
  Costs costs;
  costs.system_calls = count_system_calls(child);
  std::array<char, 256> text{};
  REQUIRE(read(output[0], text.data(), text.size() - 1) > 0);
  close(output[0]);
  REQUIRE(std::sscanf(text.data(), "%ld %ld", &costs.allocations, &costs.locks) == 2);
  return costs;
}

}  // namespace

TEST_CASE("a repeated call makes no system call, and few allocations and locks") {
  constexpr long calls = 100;
  struct Most {
    std::string name;
    long allocations, locks;  ///< a call
  };
  const std::array most_of = {Most{"one kernel", 5, 3}, Most{"new scalar", 5, 3},
                              Most{"donated", 4, 1}, Most{"lazy", 73, 15}};
  for (const Most& most : most_of) {
    const Costs costs = costs_of(most.name);
    MESSAGE(most.name << ", a hundred calls: " << costs.allocations << " allocations, "
                      << costs.locks << " locks, " << costs.system_calls << " system calls");
    CHECK(costs.allocations <= most.allocations * calls);
    CHECK(costs.locks <= most.locks * calls);
    CHECK(costs.system_calls == 0);
  }
}
