// Pending work is evaluated before it holds memory that others need: on whatever device there is,
// and on a GPU of the fake driver, which has 256 MiB.

#include <cmath>
#include <functional>
#include <vector>

#include "heddle/error.h"

#include "runtime/device/stream.h"
#include "tests/memory/pool_watch.h"

using namespace hd::test;

namespace {

constexpr int turns = 20;

std::int64_t floats_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes / sizeof(float));
}

/// That many bytes of a value, computed.
hd::Array filled(std::size_t bytes, float value) {
  return hd::full({floats_of(bytes)}, value).eval();
}

void check_values(const hd::Array& array, float value) {
  if (!computes()) return;
  CHECK(hd::min(array).item<float>() == doctest::Approx(value));
  CHECK(hd::max(array).item<float>() == doctest::Approx(value));
}

/// The most that `res += draw()`, twenty times, holds at once, in arrays of the result's size.
double most_arrays_of_sum(std::size_t bytes, const std::function<hd::Array()>& draw,
                          hd::Array& res) {
  const PoolWatch watch;
  res = filled(bytes, 0);
  for (int i = 0; i < turns; ++i) res += draw();
  res.eval();
  hd::synchronize();
  return static_cast<double>(watch.peak()) / static_cast<double>(bytes);
}

void check_sum_of_random_numbers() {
  hd::random::Generator random(7);
  constexpr std::size_t bytes = 8 * mib;
  hd::Array res;
  const double arrays = most_arrays_of_sum(
      bytes, [&] { return random.normal(0, 1, {floats_of(bytes)}, hd::float32); }, res);
  MESSAGE("res += normal(big), drawn where it is added: " << arrays << " arrays");
  CHECK(arrays <= 3);
  if (computes()) {
    CHECK(hd::std(res).item<double>() == doctest::Approx(std::sqrt(turns)).epsilon(0.01));
  }
}

void check_sum_of_arrays() {
  constexpr std::size_t bytes = 64 * mib;
  hd::Array res;
  const double arrays = most_arrays_of_sum(bytes, [&] { return filled(bytes, 1.5f); }, res);
  MESSAGE("res += what was computed before: " << arrays << " arrays");
  CHECK(arrays <= 3);
  check_values(res, 1.5f * turns);
}

/// No assignment, and small results: arrays that only wait for their sums are let go in time.
void check_container_under_a_limit() {
  constexpr std::size_t bytes = 8 * mib;
  const LimitScope limit(8 * bytes);
  const PoolWatch watch;
  const std::uint64_t evaluations = hd::statistics().auto_evaluations;
  std::vector<hd::Array> sums;
  for (int i = 0; i < 3 * turns; ++i) sums.push_back(hd::max(filled(bytes, static_cast<float>(i))));
  CHECK(hd::statistics().auto_evaluations > evaluations + 5);
  CHECK(hd::statistics().pinned_bytes <= static_cast<std::int64_t>(4 * bytes));
  CHECK(watch.peak() <= 6 * bytes);
  if (!computes()) return;
  for (int i = 0; i < 3 * turns; ++i) {
    CHECK(sums[static_cast<std::size_t>(i)].item<float>() == static_cast<float>(i));
  }
}

/// What keeps memory from others may come to do so without anything being recorded.
void check_request_that_finds_none() {
  constexpr std::size_t bytes = 8 * mib;
  const LimitScope limit(8 * bytes);
  std::vector<hd::Array> kept, sums;
  const bool automatic = hd::auto_eval(false);
  for (int i = 0; i < 7; ++i) kept.push_back(filled(bytes, static_cast<float>(i)));
  for (const hd::Array& each : kept) sums.push_back(hd::max(each));
  hd::auto_eval(automatic);
  CHECK_THROWS_AS(filled(4 * bytes, 1), hd::OutOfMemory);
  kept.clear();
  CHECK(hd::statistics().pinned_bytes == static_cast<std::int64_t>(7 * bytes));
  check_values(filled(4 * bytes, 1), 1);
  CHECK(hd::statistics().pinned_bytes == 0);
  for (std::size_t i = 0; computes() && i < sums.size(); ++i) {
    CHECK(sums[i].item<float>() == static_cast<float>(i));
  }
}

/// Work that cannot be done stays pending, and stands in nobody's way.
void check_work_that_never_fits() {
  constexpr std::size_t bytes = 8 * mib;
  const LimitScope limit(4 * bytes);
  const hd::Array x = filled(bytes, 2);
  hd::Array large = hd::full({floats_of(16 * bytes)}, 1.0f);
  large = large + 1;
  large = hd::sqrt(large);
  const hd::Array y = x * 3;
  check_values(y.eval(), 6);
  CHECK_THROWS_AS(large.eval(), hd::OutOfMemory);
  check_values((y + x).eval(), 8);
}

/// However large the array is, in its own memory, at an assignment too.
void check_update_in_place() {
  constexpr std::size_t bytes = 8 * mib;
  const LimitScope limit(3 * bytes);
  const hd::Array b = filled(bytes, 0.5f);
  hd::Array a = filled(bytes, 1);
  a = a * 2 + b;
  a.eval();
  const std::uint64_t allocations = pool().statistics().allocations;
  for (int i = 0; i < 4; ++i) {
    a = a * 2 + b;
    a.eval();
  }
  CHECK(pool().statistics().allocations == allocations);
  check_values(a, 47.5f);
}

void check_all() {
  check_sum_of_random_numbers();
  check_sum_of_arrays();
  check_container_under_a_limit();
  check_request_that_finds_none();
  check_work_that_never_fits();
  check_update_in_place();
}

}  // namespace

TEST_CASE("pending work holds no memory that others need") { check_all(); }

TEST_CASE("the same on a GPU of the fake driver") {
  CHECK(passes_on_fake_gpu("child: pending work"));
}

TEST_CASE("child: pending work" * doctest::skip()) {
  REQUIRE(hd::device() == "cuda:0");
  check_all();
}

TEST_CASE("a loop that memory evaluates makes few programs") {
  constexpr std::size_t bytes = 2 * mib;
  const LimitScope limit(8 * bytes);
  hd::Array res = filled(bytes, 0);
  const std::uint64_t programs = hd::statistics().programs;
  const hd::Array step = filled(bytes, 1);
  for (int i = 0; i < 10 * turns; ++i) {
    const hd::Array drawn = (step * 2.5f).eval();
    res = hd::sqrt(res * res);
    res = res + drawn;
  }
  res.eval();
  MESSAGE("programs: " << hd::statistics().programs - programs);
  CHECK(hd::statistics().programs <= programs + 5);
  check_values(res, 2.5f * 10 * turns);
}

TEST_CASE("arrays that are never assigned are evaluated all the same") {
  const hd::Array x = hd::arange<float>(100).eval();
  std::vector<hd::Array> kept;
  const std::uint64_t programs = hd::statistics().programs;
  for (int i = 0; i < 4000; ++i) {
    kept.push_back(hd::sin(x) * (i + 2.5f));
    CHECK(hd::statistics().pending_ops <= 1600);
  }
  CHECK(hd::statistics().programs <= programs + 4);
  CHECK(kept[3999](1).item<float>() == doctest::Approx(std::sin(1.0f) * 4001.5f));
  CHECK(kept[0](1).item<float>() == doctest::Approx(std::sin(1.0f) * 2.5f));
}
