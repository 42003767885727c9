#include <algorithm>
#include <ctime>
#include <random>

#include <doctest/doctest.h>

#include "passes/program/program.h"

using namespace heddle::passes;

namespace {

struct Case {
  std::vector<Temporary> temporaries;
  std::vector<std::int64_t> sizes;
};

Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case made;
  const std::size_t count = 1 + random() % 60, steps = 1 + random() % 40;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = static_cast<std::uint32_t>(random() % steps);
    const auto length = static_cast<std::uint32_t>(random() % (random() % 4 == 0 ? steps : 4));
    made.temporaries.push_back(
        {0, first, std::min(first + length, static_cast<std::uint32_t>(steps - 1))});
    // Whole and odd sizes over several orders of magnitude, as programs have them.
    const std::int64_t size = static_cast<std::int64_t>(random() % 1000 + 1) << random() % 16;
    made.sizes.push_back(random() % 8 == 0 ? 0 : size);
  }
  return made;
}

std::int64_t largest_live_set(const Case& from) {
  std::int64_t largest = 0;
  for (std::uint32_t step = 0; step < 64; ++step) {
    std::int64_t live = 0;
    for (std::size_t i = 0; i < from.sizes.size(); ++i) {
      if (from.temporaries[i].first_step <= step && step <= from.temporaries[i].last_step) {
        live += (from.sizes[i] + 255) / 256 * 256;
      }
    }
    largest = std::max(largest, live);
  }
  return largest;
}

}  // namespace

TEST_CASE("temporaries that live together do not overlap") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Case made = random_case(seed);
    const Arena arena = plan_arena(made.temporaries, made.sizes);
    REQUIRE(arena.offsets.size() == made.sizes.size());
    for (std::size_t i = 0; i < made.sizes.size(); ++i) {
      if (made.sizes[i] == 0) continue;
      CHECK(arena.offsets[i] % 256 == 0);
      CHECK(arena.offsets[i] + made.sizes[i] <= arena.bytes);
      for (std::size_t j = 0; j < i; ++j) {
        const Temporary &a = made.temporaries[i], &b = made.temporaries[j];
        if (made.sizes[j] == 0 || a.first_step > b.last_step || b.first_step > a.last_step)
          continue;
        const bool apart = arena.offsets[i] + made.sizes[i] <= arena.offsets[j] ||
                           arena.offsets[j] + made.sizes[j] <= arena.offsets[i];
        CHECK(apart);
      }
    }
    CHECK(plan_arena(made.temporaries, made.sizes).offsets == arena.offsets);
  }
}

TEST_CASE("memory of one time is used again at another") {
  const std::vector<Temporary> chain{{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {0, 3, 4}};
  const Arena arena = plan_arena(chain, {1024, 1024, 1024, 1024});
  CHECK(arena.bytes == 2048);
  CHECK(plan_arena({}, {}).bytes == 0);
  CHECK(plan_arena({{0, 0, 5}}, {0}).bytes == 0);
}

TEST_CASE("arbitrary lifetimes waste a bounded part of the arena") {
  // Lifetimes here are worse than a program's; tests/passes/random_programs.cpp holds those to 1.1.
  double worst = 0, sum = 0;
  constexpr int cases = 200;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const Case made = random_case(seed);
    const std::int64_t live = largest_live_set(made);
    if (live == 0) continue;
    const double ratio = static_cast<double>(plan_arena(made.temporaries, made.sizes).bytes) /
                         static_cast<double>(live);
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  CHECK(worst < 1.25);
  CHECK(sum / cases < 1.01);
}

TEST_CASE("ten times the temporaries are placed in far less than a hundred times the time") {
  const auto seconds = [](std::size_t count) {
    std::mt19937_64 random(count);
    Case made;
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = static_cast<std::uint32_t>(i);
      made.temporaries.push_back({0, first, first + static_cast<std::uint32_t>(random() % 16)});
      made.sizes.push_back(static_cast<std::int64_t>(random() % 1000 + 1) << random() % 16);
    }
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const std::clock_t start = std::clock();
      CHECK(plan_arena(made.temporaries, made.sizes).bytes > 0);
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  // Both above the number up to which several orders are tried.
  const double small = seconds(2000), large = seconds(20000);
  CAPTURE(small);
  CAPTURE(large);
  // n log n is 13 times, which memory that leaves the caches adds to; n * n is 100 times. Between.
  CHECK(large <= 36 * small);
}
