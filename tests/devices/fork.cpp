// Forks while other threads evaluate: the child computes on the CPU, and is told at once that it
// cannot use CUDA.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr int forks = 1000, evaluating_threads = 8;
constexpr unsigned hangs_after_seconds = 20;
/// Leaves the child some of the processors.
constexpr auto between_turns = std::chrono::microseconds(200);
enum ChildStatus : int { right = 0, wrong_value = 1, threw = 2 };

int status_of_child(const std::function<bool()>& child) {
  const pid_t process = fork();
  if (process == 0) {
    alarm(hangs_after_seconds);
    try {
      _exit(child() ? right : wrong_value);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(threw);
    }
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// What threads share: arrays, one of them pending, and a jitted function.
struct Shared {
  Array x = arange(1000.0f);
  Array matrix = arange(64.0f).reshape({8, 8}).eval();
  std::function<Array(const Array&)> scale = jit([](const Array& a) { return a * 2.0f + 1.0f; });

  /// Lazily, in place, through a jitted function, a library's product, and a sort.
  bool turn(const Array& pending) const {
    Array own = x + 0.0f;
    own += 1.0f;
    const Array product = matmul(matrix, matrix);
    return pending(3).item<float>() == 9 && sum(own).item<float>() == 500500 &&
           scale(x)(2).item<float>() == 5 && product(0, 0).item<float>() == 1120 &&
           sort(negative(x))(0).item<float>() == -999;
  }
};

/// Forks while threads evaluate; how many of the children did not answer that all is right.
int bad_children(const Shared& shared) {
  std::atomic<bool> stop{false};
  std::atomic<int> bad_turns{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < evaluating_threads; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        bad_turns += !shared.turn(shared.x * shared.x);
        std::this_thread::sleep_for(between_turns);
      }
    });
  }
  int bad = 0;
  for (int i = 0; i < forks && bad == 0; ++i) {
    const Array pending = shared.x * shared.x;
    std::thread other([pending] { pending.eval(); });
    const int status = status_of_child([&] { return shared.turn(pending); });
    other.join();
    CAPTURE(i);
    CHECK(status == right);
    bad += status != right;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(bad_turns == 0);
  return bad;
}

/// A thread compiles when the process forks: the child compiles the same by itself.
void check_compiling() {
  for (int i = 0; i < 4; ++i) {
    const float number = 3.25f + static_cast<float>(i) + static_cast<float>(getpid());
    const auto body = [number](const Array& a) { return tanh(a) * number - exp(a); };
    const auto f = jit(body);
    const Array x = zeros<float>({10}).eval();
    std::atomic<bool> started{false};
    std::thread other([&] {
      started = true;
      f(x).eval();
    });
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * i));
    const int status = status_of_child([&] {
      const bool same = f(x)(0).item<float>() == -1;
      return same && jit(body)(x)(0).item<float>() == -1;
    });
    other.join();
    CHECK(status == right);
  }
}

}  // namespace

TEST_CASE("of a thousand forks under eight evaluating threads none hangs") {
  const auto result =
      run_child("child: forks on the CPU", {"HEDDLE_DEVICE=cpu", "HEDDLE_NUM_THREADS=2"});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: forks on the CPU" * doctest::skip()) {
  const Shared shared;
  REQUIRE(shared.turn(shared.x * shared.x));
  CHECK(bad_children(shared) == 0);
  check_compiling();
}

TEST_CASE("in the child of a process that uses a GPU the CPU works, and CUDA says why not") {
  const auto result = run_on_fake_gpus("child: forks on a GPU");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: forks on a GPU" * doctest::skip()) {
  const Array x = on(cuda(0), [] { return arange(10.0f); });
  const Array host = on({}, [] { return arange(10.0f); });
  const Array pending = x + 1.0f;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < evaluating_threads; ++t) {
    threads.emplace_back([&] {
      while (!stop) (x * 2.0f).eval();
    });
  }
  for (int i = 0; i < 20; ++i) {
    const int status = status_of_child([&] {
      const auto says_why = [](const std::function<void()>& call) {
        return contains(refusal<DeviceError>(call), "forked from a process that uses it");
      };
      const bool refused = says_why([&] { pending.eval(); }) &&
                           says_why([&] { x.to_vector<float>(); }) &&
                           says_why([] { array({1.0f, 2.0f}); }) && says_why([] { synchronize(); });
      set_device("cpu");
      return refused && sum(host * 2.0f).item<float>() == 90 &&
             sum(arange(5.0f)).item<float>() == 10;
    });
    CHECK(status == right);
  }
  // A child that ends in the usual way gives nothing back to the driver.
  const pid_t process = fork();
  if (process == 0) std::exit(0);
  int status = 0;
  waitpid(process, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  x.to_vector<float>();
}

TEST_CASE("a child of a process that has not asked for a GPU may use it") {
  const auto result = run_on_fake_gpus("child: forks before CUDA");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: forks before CUDA" * doctest::skip()) {
  CHECK(status_of_child([] {
          return on(cuda(1), [] { return array({1.0f, 2.0f}); }).to_vector<float>()[1] == 2;
        }) == right);
}
