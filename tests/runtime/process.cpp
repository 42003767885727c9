#include "runtime/base/process.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/temporary_folder.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::run_process;
namespace fs = std::filesystem;

namespace {

/// Waits a while for what another process does; false where it did not.
template <class Condition>
bool soon(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool runs(pid_t process) {
  const std::string facts = test::read_text(fmt::format("/proc/{}/stat", process));
  return !facts.empty() && facts.find(") Z ") == std::string::npos;
}

/// The process that a script wrote into a file, once it did.
pid_t process_in(const fs::path& file) {
  REQUIRE(soon([&] { return test::read_text(file).ends_with('\n'); }));
  return std::stoi(test::read_text(file));
}

/// A compiler's driver: a process that waits for one that it has started.
std::vector<std::string> driver(const fs::path& file) {
  return {"sh", "-c", "sleep 60 & echo $! > " + file.string() + "; wait; echo woke up"};
}

std::exception_ptr interrupt() { return std::make_exception_ptr(1); }

}  // namespace

TEST_CASE("a program's output, status and signal come back; one that is missing says so") {
  const runtime::ProcessResult both =
      run_process({"sh", "-c", "echo out; echo 'error  \"$1\"' >&2; exit 3", "x"});
  CHECK(both.status == 3);
  CHECK(both.output == "out\nerror  \"$1\"\n");
  CHECK(run_process({"printf", "%s|", "a b", "", "*", "$HOME"}).output == "a b||*|$HOME|");
  CHECK(run_process({"cat"}).status == 0);  // no input
  CHECK(run_process({"sh", "-c", "kill -KILL $$"}).status == 128 + SIGKILL);
  for (const char* missing : {"/nowhere/cc", "heddle-no-such-program", "/tmp"}) {
    const runtime::ProcessResult result = run_process({missing});
    CHECK(result.status == -1);
    CHECK(result.output == std::string(missing) + ": No such file or directory");
  }
}

TEST_CASE("programs run where standard input and outputs are closed") {
  for (int closed = 1; closed < 8; ++closed) {
    CAPTURE(closed);
    std::array<int, 3> kept{};
    for (int each = 0; each < 3; ++each) {
      if ((closed >> each & 1) == 0) continue;
      kept.at(static_cast<std::size_t>(each)) = fcntl(each, F_DUPFD_CLOEXEC, 3);
      close(each);
    }
    const runtime::ProcessResult result =
        run_process({"sh", "-c", "cat; echo out; echo error >&2"});
    for (int each = 0; each < 3; ++each) {
      if ((closed >> each & 1) == 0) continue;
      CHECK(fcntl(each, F_GETFD) == -1);  // nothing was left there
      dup2(kept.at(static_cast<std::size_t>(each)), each);
      close(kept.at(static_cast<std::size_t>(each)));
    }
    CHECK(result.status == 0);
    CHECK(result.output == "out\nerror\n");
  }
}

TEST_CASE("a program is not affected by signals that its parent ignores or blocks") {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto handler = std::signal(SIGTERM, SIG_IGN);
  CHECK(run_process({"sh", "-c", "kill -TERM $$; sleep 5"}).status == 128 + SIGTERM);
  std::signal(SIGTERM, handler);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("an interrupted wait kills the program and what it has started") {
  const runtime::TemporaryFolder folder;
  const fs::path file = fs::path(folder.path()) / "process";
  runtime::set_interrupt_hook(interrupt);
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(run_process({"sleep", "60"}), runtime::Interrupted);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  {
    // The hook may wait for a thread that forks, which waits for the section.
    const ir::ForkSection section;
    CHECK(run_process({"echo", "word"}).output == "word\n");
  }
  runtime::set_interrupt_hook(nullptr);
  {
    const runtime::Process process(driver(file));
    CHECK(runs(process_in(file)));
  }
  CHECK(soon([&] { return !runs(process_in(file)); }));
  CHECK(run_process({"echo", "again"}).output == "again\n");
}

TEST_CASE("programs die with the process that runs them, and so does what they have started") {
  const runtime::TemporaryFolder folder;
  const fs::path file = fs::path(folder.path()) / "process";
  const runtime::Process child(
      test::child_command("child: wait for a driver", {"HEDDLE_TEST_DIR=" + folder.path()}));
  const pid_t grandchild = process_in(file);
  CHECK(runs(grandchild));
  kill(process_in(fs::path(folder.path()) / "child"), SIGKILL);
  CHECK(soon([&] { return !runs(grandchild); }));
}

TEST_CASE("child: wait for a driver" * doctest::skip()) {
  const fs::path folder = std::getenv("HEDDLE_TEST_DIR");
  test::write_text(folder / "child", std::to_string(getpid()) + "\n");
  run_process(driver(folder / "process"));
}

TEST_CASE("the first temporary folder of a process removes those that killed processes left") {
  const runtime::TemporaryFolder outer;
  const fs::path root = outer.path();
  const auto make = [&](const std::string& name, int hours) {
    fs::create_directory(root / name);
    test::write_text(root / name / "kernel.cpp", "text");
    fs::last_write_time(root / name, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return root / name;
  };
  make("heddle-left00", 2);
  make("heddle-young0", 0);
  make("heddle-left00-not", 2);
  make("other-left00", 2);
  make("elsewhere", 2);
  fs::create_directory_symlink(root / "elsewhere", root / "heddle-link00");
  test::write_text(root / "heddle-file00", "text");
  const int locked = open(make("heddle-locked", 2).c_str(), O_RDONLY);
  REQUIRE(flock(locked, LOCK_EX | LOCK_NB) == 0);
  const bool is_root = geteuid() == 0;
  if (is_root) REQUIRE(chown(make("heddle-others", 2).c_str(), 12345, 12345) == 0);

  CHECK(test::run_child("child: two temporary folders", {"TMPDIR=" + outer.path()}).status == 0);
  close(locked);
  CHECK(!fs::exists(root / "heddle-left00"));
  for (const char* kept : {"heddle-young0", "heddle-left00-not", "other-left00", "elsewhere",
                           "heddle-link00", "heddle-locked"}) {
    CHECK_MESSAGE(fs::exists(root / kept / "kernel.cpp"), kept);
  }
  CHECK(fs::exists(root / "heddle-file00"));
  CHECK(fs::exists(root / "heddle-others" / "kernel.cpp") == is_root);
}

TEST_CASE("child: two temporary folders" * doctest::skip()) {
  const runtime::TemporaryFolder first;
  // However old, it is in use.
  fs::last_write_time(first.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK(test::run_child("child: one temporary folder", {}).status == 0);
  CHECK(fs::exists(first.path()));
}

TEST_CASE("child: one temporary folder" * doctest::skip()) {
  const runtime::TemporaryFolder second;
  CHECK(fs::exists(second.path()));
}
