#include "runtime/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "tests/runtime/helpers.h"

using namespace heddle;
using runtime::parallel_for;

namespace {

std::int64_t parallel_sum(std::int64_t n, std::int64_t grain) {
  std::atomic<std::int64_t> sum{0};
  parallel_for(0, n, grain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t part = 0;
    for (std::int64_t i = begin; i < end; ++i) part += i;
    sum += part;
  });
  return sum;
}

}  // namespace

TEST_CASE("every index is visited once, in pieces cut by the grain alone") {
  for (const std::int64_t grain : {1, 7, 64, 1000, 5000}) {
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> pieces;
    parallel_for(-3, 997, grain, [&](std::int64_t begin, std::int64_t end) {
      const std::lock_guard lock(mutex);
      CHECK(pieces.emplace(begin, end).second);
    });
    std::int64_t at = -3;
    for (const auto& [begin, end] : pieces) {
      CHECK(begin == at);
      CHECK(end == std::min<std::int64_t>(begin + grain, 997));
      at = end;
    }
    CHECK(at == 997);
  }
}

TEST_CASE("an empty range calls nothing, and a grain below one is one") {
  parallel_for(5, 5, 1, [](std::int64_t, std::int64_t) { FAIL("called"); });
  parallel_for(5, 2, 1, [](std::int64_t, std::int64_t) { FAIL("called"); });
  CHECK(parallel_sum(10, 0) == 45);
}

TEST_CASE("a range that ends at the largest integer does not overflow") {
  constexpr std::int64_t most = INT64_MAX;
  std::atomic<std::int64_t> count{0};
  parallel_for(most - 10, most, 4,
               [&](std::int64_t begin, std::int64_t end) { count += end - begin; });
  CHECK(count == 10);
}

TEST_CASE("the exception of the lowest piece that throws arrives, and the pool works on") {
  for (int round = 0; round < 50; ++round) {
    try {
      parallel_for(0, 100, 1, [](std::int64_t begin, std::int64_t) {
        if (begin >= 3) throw std::runtime_error(std::to_string(begin));
      });
      FAIL("nothing was thrown");
    } catch (const std::runtime_error& failure) {
      CHECK(std::string(failure.what()) == "3");
    }
    CHECK(parallel_sum(1000, 10) == 499500);
  }
}

TEST_CASE("nested calls run on the thread that makes them") {
  std::atomic<std::int64_t> sum{0};
  parallel_for(0, 16, 1, [&](std::int64_t, std::int64_t) {
    const auto self = std::this_thread::get_id();
    parallel_for(0, 100, 10, [&](std::int64_t begin, std::int64_t end) {
      CHECK(std::this_thread::get_id() == self);
      sum += end - begin;
    });
  });
  CHECK(sum == 1600);
}

TEST_CASE("many threads use the pool at once") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (parallel_sum(1000 + i, 17) != std::int64_t{1000 + i} * (999 + i) / 2) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a forked child has threads of its own") {
  CHECK(parallel_sum(1000, 10) == 499500);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(30);
    _exit(parallel_sum(100000, 10) == 4999950000 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(parallel_sum(1000, 10) == 499500);
}

TEST_CASE("HEDDLE_NUM_THREADS sets the number of threads, and nonsense is an error") {
  CHECK(test::run_child("child: seven threads", {"HEDDLE_NUM_THREADS=7"}).status == 0);
  CHECK(test::run_child("child: default threads", {"HEDDLE_NUM_THREADS="}).status == 0);
  for (const char* text : {"HEDDLE_NUM_THREADS=many", "HEDDLE_NUM_THREADS=0",
                           "HEDDLE_NUM_THREADS=4097", "HEDDLE_NUM_THREADS=2x"})
    CHECK(test::run_child("child: no threads", {text}).status == 0);
}

TEST_CASE("child: no threads" * doctest::skip()) {
  CHECK_THROWS_WITH_AS(runtime::thread_count(), doctest::Contains("valid values: 1 to 4096"),
                       heddle::ValueError);
}

TEST_CASE("child: seven threads" * doctest::skip()) {
  CHECK(runtime::thread_count() == 7);
  // Each piece waits for the others, so that all threads have to come.
  std::atomic<int> waiting{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  parallel_for(0, 7, 1, [&](std::int64_t, std::int64_t) {
    ++waiting;
    while (waiting < 7 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  });
  CHECK(std::chrono::steady_clock::now() < deadline);
}

TEST_CASE("child: default threads" * doctest::skip()) {
  CHECK(runtime::thread_count() >= 1);
  CHECK(runtime::thread_count() <= static_cast<int>(std::thread::hardware_concurrency()));
}
