#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <unistd.h>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/cli/command.h"
#include "runtime/base/interrupt.h"

namespace {

constexpr int user_error = 1, usage_error = 2, interrupted = 128 + SIGINT;

std::atomic<bool> asked_to_end{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// Code that waits for a compiler kills it and removes its files. Nothing else needs cleanup.
void end(int) {
  if (!heddle::runtime::InterruptibleWait::any() || asked_to_end.exchange(true)) _exit(interrupted);
}

void end_on_interrupt() {
  struct sigaction before{};
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // background job of a shell
  struct sigaction action{};
  action.sa_handler = end;
  sigaction(SIGINT, &action, nullptr);
  heddle::runtime::set_interrupt_hook(
      [] { return asked_to_end ? std::make_exception_ptr(interrupted) : nullptr; });
}

int run(int argc, char** argv) {
  CLI::App app("Heddle, an array compiler: show, run and compile programs in text form.", "heddle");
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  heddle::cli::Action action;
  heddle::cli::add_show_verbs(app, action);
  heddle::cli::add_explain(app, action);
  heddle::cli::add_run(app, action);
  heddle::cli::add_warm(app, action);
  heddle::cli::add_cache(app, action);
  heddle::cli::add_doctor(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "heddle: {} (heddle --help, heddle VERB --help)\n", error.what());
    return usage_error;
  }
  const int status = action();
  std::cout.flush();
  if (std::fflush(stdout) != 0 || !std::cout)
    throw heddle::FileError("standard output cannot be written");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  end_on_interrupt();
  try {
    return run(argc, argv);
  } catch (const heddle::runtime::Interrupted&) {
    return interrupted;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "heddle: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "heddle: {}\n", error.what());
  }
  return user_error;
}
