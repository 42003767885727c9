// Locks, sections and claims at a fork.

#include "ir/base/fork_gate.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

using namespace heddle::ir;

namespace {

constexpr unsigned hangs_after_seconds = 10;

/// What a forked child says of itself: the status that `child` returns, or the signal's negative.
int status_of_child(const std::function<int()>& child) {
  const pid_t process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    alarm(hangs_after_seconds);
    _exit(child());
  }
  int status = 0;
  REQUIRE(waitpid(process, &status, 0) == process);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class Threads {
 public:
  Threads(int count, const std::function<void()>& turn) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, turn] {
        while (!stop_) turn();
      });
    }
  }
  ~Threads() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("in a forked child every lock is free, and guarded data are consistent") {
  Mutex mutex;
  SharedMutex shared;
  long a = 0, b = 0;
  const Threads threads(8, [&] {
    {
      const std::lock_guard lock(mutex);
      ++a;
      std::this_thread::yield();
      ++b;
    }
    const std::shared_lock reading(shared);
    std::this_thread::yield();
  });
  for (int i = 0; i < 200; ++i) {
    const int status = status_of_child([&] {
      const std::lock_guard lock(mutex);
      const std::lock_guard writing(shared);
      return a == b ? 0 : 1;
    });
    REQUIRE(status == 0);
  }
}

TEST_CASE("a fork does not wait for a LongMutex that is held") {
  LongMutex claimed;
  std::atomic<bool> held{false}, let_go{false};
  std::thread holder([&] {
    const std::lock_guard lock(claimed);
    held = true;
    while (!let_go) std::this_thread::yield();
  });
  while (!held) std::this_thread::yield();
  const std::uint64_t generation = fork_generation();
  CHECK(status_of_child([&] {
          const std::lock_guard lock(claimed);
          return fork_generation() == generation + 1 ? 0 : 1;
        }) == 0);
  CHECK(fork_generation() == generation);
  let_go = true;
  holder.join();
  const std::lock_guard lock(claimed);
}

TEST_CASE("a fork waits until other threads have left their sections") {
  std::atomic<int> done{0};
  std::atomic<bool> inside{false};
  std::thread worker([&] {
    const ForkSection section;
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = 1;
  });
  while (!inside) std::this_thread::yield();
  CHECK(status_of_child([&] { return done == 1 ? 0 : 1; }) == 0);
  worker.join();
}

TEST_CASE("a helper of a thread in a section enters a section while a fork waits") {
  std::atomic<bool> inside{false}, finished{false};
  Mutex mutex;
  std::thread caller([&] {
    const ForkSection section;
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::thread([&] {
      const SharedForkSection shared;
      const std::lock_guard lock(mutex);
      finished = true;
    }).join();
  });
  while (!inside) std::this_thread::yield();
  CHECK(status_of_child([&] { return finished ? 0 : 1; }) == 0);
  caller.join();
}

TEST_CASE("a fork by the holder of a lock does not wait for threads that want this lock") {
  Mutex mutex;
  std::atomic<bool> asked{false};
  std::thread other;
  {
    const std::lock_guard lock(mutex);
    other = std::thread([&] {
      asked = true;
      const std::lock_guard own(mutex);
    });
    while (!asked) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::uint64_t generation = fork_generation();
    CHECK(status_of_child([] {
            execl("/bin/true", "true", nullptr);
            return 1;
          }) == 0);
    CHECK(fork_generation() == generation);
    CHECK(in_fork_section());
  }
  other.join();
  CHECK(status_of_child([&] {
          const std::lock_guard lock(mutex);
          return 0;
        }) == 0);
}

TEST_CASE("a fork in a section and a fork by another thread do not deadlock") {
  std::atomic<bool> asked{false};
  std::thread other;
  {
    const ForkSection section;
    other = std::thread([&] {
      asked = true;
      CHECK(status_of_child([] { return 0; }) == 0);
    });
    while (!asked) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(status_of_child([] {
            const ForkSection own;
            return 0;
          }) == 0);
  }
  other.join();
}

TEST_CASE("sections entered by destructors of thread_local objects leak nothing") {
  struct Last {
    ~Last() { const ForkSection section; }
  };
  const auto count = [] {
    int presences = 0;
    for (const auto* each = detail::gate.all.load(); each != nullptr; each = each->next)
      ++presences;
    return presences;
  };
  const auto turn = [] {
    std::thread([] {
      thread_local const Last last;  // destroyed after what the first section makes
      static_cast<void>(last);
      const ForkSection section;
    }).join();
  };
  turn();
  const int before = count();
  for (int i = 0; i < 20; ++i) turn();
  CHECK(count() == before);
}

TEST_CASE("a fork does not wait for a section that is paused") {
  std::atomic<bool> paused{false}, let_go{false};
  std::thread worker([&] {
    const ForkSection outer, inner;
    {
      const ForkPause pause;
      CHECK_FALSE(in_fork_section());
      paused = true;
      while (!let_go) std::this_thread::yield();
    }
    CHECK(in_fork_section());
  });
  while (!paused) std::this_thread::yield();
  CHECK(status_of_child([] { return 0; }) == 0);
  let_go = true;
  worker.join();
}

TEST_CASE("callbacks of users run after all sections have ended") {
  std::vector<int> calls;
  const auto note = [&](int number) {
    outside_fork_sections([&calls, number] {
      CHECK_FALSE(in_fork_section());
      calls.push_back(number);
    });
  };
  note(1);
  {
    const ForkSection outer;
    Mutex mutex;
    {
      const std::lock_guard lock(mutex);
      note(2);
    }
    note(3);
    CHECK(calls == std::vector<int>{1});
  }
  CHECK(calls == std::vector<int>{1, 2, 3});
}

TEST_CASE("a LazyStatic is made once by threads and forks, and again after a failure") {
  static constinit LazyStatic<int> value;
  CHECK_THROWS_AS(value.get([]() -> int { throw 1; }), int);
  std::atomic<int> made{0};
  const auto make = [&] {
    ++made;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return 42;
  };
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (value.get(make) == 42) ++right;
    });
  }
  const int status = status_of_child([&] { return value.get(make) == 42 ? 0 : 1; });
  for (std::thread& thread : threads) thread.join();
  CHECK(status == 0);
  CHECK(made == 1);
  CHECK(right == 8);
}

TEST_CASE("threads that wait for a condition are woken while the process forks") {
  Mutex mutex;
  Condition changed;
  int turn = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return turn % 4 == t; });
        ++turn;
        lock.unlock();
        changed.notify_all();
      }
    });
  }
  for (int i = 0; i < 20; ++i) CHECK(status_of_child([] { return 0; }) == 0);
  for (std::thread& thread : threads) thread.join();
  CHECK(turn == 800);
}
