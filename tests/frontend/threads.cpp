#include <atomic>
#include <chrono>
#include <thread>

#include "values.h"

TEST_CASE("a graph is recorded on one thread, evaluated on a second and read on a third") {
  hd::Array x;
  std::thread([&] {
    x = hd::ones<float>({100});
    for (int i = 0; i < 20; ++i) x = x + 1;
  }).join();
  std::thread([&] { x.eval(); }).join();
  std::thread([&] { CHECK(x(5).item<float>() == 21); }).join();
}

TEST_CASE("shared values are computed once by many threads") {
  for (int turn = 0; turn < 20; ++turn) {
    const hd::Array base = hd::arange<float>(64).eval();
    const hd::Array shared = hd::exp(base * 0.01f) + static_cast<double>(turn);
    std::atomic<int> ready{0}, wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < 8) {
        }
        const hd::Array mine = shared * static_cast<double>(t + 2);
        const float expected =
            (std::exp(0.63f) + static_cast<float>(turn)) * static_cast<float>(t + 2);
        if (std::abs(mine(63).item<float>() - expected) > 1e-3f * expected) ++wrong;
        if (std::abs(shared(0).item<float>() - 1.0f - static_cast<float>(turn)) > 1e-5f) ++wrong;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("threads evaluate loops of their own at once") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      hd::Array x = hd::zeros<float>({16});
      for (int i = 0; i < 500; ++i) x = x + 1;
      if (hd::sum(x).item<float>() != 8000) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("many threads call a jitted function: it is traced once") {
  const auto f = hd::jit([](const hd::Array& x) { return x * 3.0f + 1.0f; });
  const std::uint64_t before = hd::statistics().traces;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const hd::Array y = f(hd::full({8}, static_cast<float>(t)));
        if (y(3).item<float>() != static_cast<float>(3 * t + 1)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(hd::statistics().traces == before + 1);
}

TEST_CASE("arrays are destroyed on other threads than they were recorded on") {
  hd::auto_eval(false);
  std::vector<hd::Array> arrays;
  std::thread([&] {
    hd::Array x = hd::ones<float>({4});
    for (int i = 0; i < 1000; ++i) arrays.push_back(x = x * 2.0f);
  }).join();
  std::thread first([half = std::vector<hd::Array>(arrays.begin(), arrays.begin() + 500)]() {});
  std::thread second([&] { arrays.clear(); });
  first.join();
  second.join();
  hd::auto_eval(true);
  CHECK(hd::statistics().pending_ops < 8);
}

TEST_CASE("a thread goes on recording while another evaluates what it recorded") {
  for (int round = 0; round < 4; ++round) {
    CAPTURE(round);
    hd::Array y;
    {
      // Nobody else holds the leaf, so that the program takes its memory.
      const hd::Array x = hd::array<float>({1, 2, 3, 4});
      y = hd::sum(hd::sin(x) * 2.0f + hd::full({4}, static_cast<float>(round)));
      // A new program each round, so that it compiles for a while.
      for (int i = 0; i <= round; ++i) y = hd::cos(y) + hd::sin(y * 0.5f);
    }
    std::atomic<bool> started{false};
    float value = 0;
    std::thread other([&, copy = y] {
      started = true;
      value = copy.item<float>();
    });
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    hd::Array z = hd::zeros<float>({4});
    for (int i = 0; i < 200; ++i) z = z + 1.5f;
    CHECK(z(0).item<float>() == 300);
    other.join();
    CHECK(value == y.item<float>());
  }
}
