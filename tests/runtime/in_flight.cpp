#include "runtime/base/in_flight.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/base/interrupt.h"

using heddle::runtime::InFlight;
using heddle::runtime::Interrupted;

TEST_CASE("threads that ask for one key at once compute it once") {
  InFlight<std::string, int> in_flight;
  std::atomic<int> computed{0}, right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      const int value = in_flight.run("key", [&] {
        ++computed;
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        return 42;
      });
      if (value == 42) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(computed == 1);
  CHECK(right == 16);
}

TEST_CASE("different keys do not wait for each other") {
  InFlight<int, int> in_flight;
  const int outer = in_flight.run(1, [&] { return in_flight.run(2, [] { return 20; }) + 1; });
  CHECK(outer == 21);
}

TEST_CASE("a failure reaches all who waited, and the next to ask computes again") {
  InFlight<int, int> in_flight;
  std::atomic<int> computed{0}, failed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      try {
        in_flight.run(7, [&]() -> int {
          ++computed;
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          throw std::runtime_error("no");
        });
      } catch (const std::runtime_error& failure) {
        if (std::string(failure.what()) == "no") ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(computed == 1);
  CHECK(failed == 8);
  CHECK(in_flight.run(7, [] { return 3; }) == 3);
}

TEST_CASE("a forked child does not wait for what a thread of its parent computes") {
  InFlight<int, int> in_flight;
  std::atomic<bool> computing{false}, let_go{false};
  std::thread other([&] {
    in_flight.run(1, [&] {
      computing = true;
      while (!let_go) std::this_thread::yield();
      return 1;
    });
  });
  while (!computing) std::this_thread::yield();
  const pid_t process = fork();
  if (process == 0) {
    alarm(10);
    _exit(in_flight.run(1, [] { return 2; }) + in_flight.run(1, [] { return 3; }));
  }
  int status = 0;
  waitpid(process, &status, 0);
  let_go = true;
  other.join();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
}

TEST_CASE("where the thread that computes is interrupted, one that waits computes") {
  InFlight<int, int> in_flight;
  std::atomic<bool> computes{false};
  std::thread first([&] {
    CHECK_THROWS_AS(in_flight.run(7,
                                  [&]() -> int {
                                    computes = true;
                                    std::this_thread::sleep_for(std::chrono::milliseconds(200));
                                    throw Interrupted(std::make_exception_ptr(1));
                                  }),
                    Interrupted);
  });
  while (!computes) std::this_thread::yield();
  CHECK(in_flight.run(7, [] { return 3; }) == 3);
  first.join();
}

TEST_CASE("a thread that waits for another's result can be interrupted") {
  InFlight<int, int> in_flight;
  std::atomic<bool> computes{false}, leave{false};
  std::thread first([&] {
    CHECK(in_flight.run(7, [&] {
      computes = true;
      while (!leave) std::this_thread::yield();
      return 3;
    }) == 3);
  });
  while (!computes) std::this_thread::yield();
  heddle::runtime::set_interrupt_hook([] { return std::make_exception_ptr(1); });
  CHECK_THROWS_AS(in_flight.run(7, [] { return 4; }), Interrupted);
  heddle::runtime::set_interrupt_hook(nullptr);
  leave = true;
  first.join();
}

TEST_CASE("a wait asks whether it is interrupted, however often it is notified") {
  heddle::ir::Mutex mutex;
  heddle::ir::Condition condition;
  static std::atomic<int> asked;
  asked = 0;
  heddle::runtime::set_interrupt_hook([]() -> std::exception_ptr {
    ++asked;
    return nullptr;
  });
  std::atomic<bool> stop{false};
  std::thread notifier([&] {
    while (!stop) {
      condition.notify_all();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::unique_lock lock(mutex);
  heddle::runtime::wait_or_interrupt(condition, lock,
                                     [&] { return std::chrono::steady_clock::now() > end; });
  lock.unlock();
  stop = true;
  notifier.join();
  heddle::runtime::set_interrupt_hook(nullptr);
  CHECK(asked > 10);
}

TEST_CASE("a thread does not wait for itself where its interrupt hook asks for the same") {
  static InFlight<int, int> in_flight;
  CHECK(in_flight.run(1, [] { return in_flight.run(1, [] { return 2; }) + 1; }) == 3);
  CHECK(in_flight.run(1, [] { return 4; }) == 4);
}
