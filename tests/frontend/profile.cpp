#include "heddle/profile.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "values.h"

using hd::test::contains;
using hd::test::line_mark;

namespace {

hd::Array standardized(const hd::Array& x) {
  const hd::Array e = hd::exp(x - hd::max(x, {-1}, true));
  return e / hd::sum(e, {-1}, true);
}

std::vector<hd::ProfileEvent> of(const hd::Profile& profile, const std::string& phase) {
  std::vector<hd::ProfileEvent> events = profile.events();
  std::erase_if(events, [&](const hd::ProfileEvent& event) { return event.phase != phase; });
  return events;
}

hd::Array ramp() { return hd::linspace(-3.0f, 3.0f, 4000).reshape({40, 100}).eval(); }

/// Spans of one row either contain each other or do not meet.
bool is_nested(const std::vector<hd::ProfileEvent>& events) {
  for (const hd::ProfileEvent& a : events) {
    for (const hd::ProfileEvent& b : events) {
      if (a.thread != b.thread || b.start < a.start) continue;
      const double a_end = a.start + a.microseconds, b_end = b.start + b.microseconds;
      if (b.start < a_end && b_end > a_end) return false;
    }
  }
  return true;
}

bool on_gpu() { return hd::device() != "cpu"; }

/// A sort is a step of the CPU's, and kernels on a GPU.
bool is_sort(const std::string& kernel) {
  return on_gpu() ? kernel.starts_with("hd_sort_") : kernel == "sort_f32";
}

}  // namespace

TEST_CASE("a profile has every phase of a jitted call, and results are the same bits") {
  const auto function = hd::jit(standardized, {.name = "standardized"});
  const hd::Array x = ramp();
  const hd::Array wanted = hd::jit(standardized)(x);
  hd::Profile profile;
  const hd::Array first = function(x), second = function(x);
  profile.stop();
  CHECK(first.to_vector<float>() == wanted.to_vector<float>());
  CHECK(second.to_vector<float>() == wanted.to_vector<float>());
  function(x);  // too late

  REQUIRE(of(profile, "trace").size() == 1);
  CHECK(of(profile, "trace")[0].name == "standardized");
  const auto launches = of(profile, "launch");
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].name == "standardized");
  CHECK(launches[0].own_microseconds < launches[0].microseconds);
  const auto compiles = of(profile, "compile");
  REQUIRE(!compiles.empty());
  for (const auto& compile : compiles) {
    CHECK_MESSAGE(
        (compile.source == "memory" || compile.source == "disk" || compile.source == "compiled"),
        compile.source);
  }
  CHECK(of(profile, "allocate").size() >= 2);
  const auto kernels = of(profile, "kernel");
  REQUIRE(kernels.size() == 2);
  const hd::KernelLaunch& launch = kernels[0].launch.value();
  const hd::Lowered lowered = function.lower(x);
  CHECK_MESSAGE(contains(on_gpu() ? lowered.cuda() : lowered.host(), launch.kernel + "("),
                launch.kernel);
  CHECK(launch.kernel == kernels[0].name);
  CHECK(launch.program == "standardized");
  CHECK(launch.operands == "f32[40,100] -> f32[40,100]");
  CHECK(launch.bytes == 2 * 4 * 4000);
  CHECK(launch.device == hd::device());
  CHECK(launch.microseconds.value() > 0);
  CHECK(launch.lines.size() == 2);
  for (const std::string& line : launch.lines) CHECK(contains(line, "profile.cpp:"));
  CHECK(is_nested(profile.events()));
}

TEST_CASE("rows add up by phase and by name") {
  const auto function = hd::jit(standardized, {.name = "rows"});
  const hd::Array x = ramp();
  hd::Profile profile;
  for (int i = 0; i < 5; ++i) function(x);
  hd::sort(x).eval();
  profile.stop();
  double share = 0, total = 0;
  for (const hd::ProfileRow& row : profile.rows()) {
    CHECK(row.count == of(profile, row.phase).size());
    CHECK(row.least <= row.most);
    share += row.share;
    if (row.phase == "kernel") total = row.total;
  }
  CHECK(share == doctest::Approx(1));
  const std::vector<hd::ProfileRow> kernels = profile.rows("kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].total >= kernels[1].total);
  CHECK(kernels[0].total + kernels[1].total == doctest::Approx(total));
  const bool sorts_first = is_sort(kernels[0].name);
  const hd::ProfileRow& fused = kernels[sorts_first ? 1 : 0];
  CHECK(is_sort(kernels[sorts_first ? 0 : 1].name));
  CHECK(fused.count == 5);
  CHECK(fused.bytes == 5 * 2 * 4 * 4000);
  CHECK(fused.gigabytes_per_second ==
        doctest::Approx(static_cast<double>(fused.bytes) / fused.total / 1e3));
  CHECK(contains(profile.table(), fused.name));
  CHECK_THROWS_AS(profile.rows("kernels"), hd::ValueError);
}

TEST_CASE("a trace is JSON of complete events on named rows") {
  const hd::Array x = ramp();
  hd::Profile profile;
  hd::jit(standardized)(x);
  const nlohmann::json trace = nlohmann::json::parse(profile.trace());
  std::set<std::pair<int, int>> rows, named;
  std::size_t spans = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    const std::string kind = event.at("ph");
    const std::pair row(event.at("pid").get<int>(), event.at("tid").get<int>());
    if (kind == "M" && event.at("name") == "thread_name") named.insert(row);
    if (kind != "X") continue;
    // What a GPU does is on rows of its own, beside its launches.
    const bool of_gpu = row.first == 2;
    spans += of_gpu ? 0 : 1;
    CHECK_FALSE((of_gpu && event.at("cat") != "kernel"));
    CHECK(event.at("dur").get<double>() >= 0);
    CHECK(event.at("ts").get<double>() >= 0);
    CHECK((row.first == 1 || (of_gpu && on_gpu())));
    rows.insert(row);
    if (event.at("cat") != "kernel") continue;
    const nlohmann::json& args = event.at("args");
    const std::string name = event.at("name");
    CHECK(name.ends_with("_" + args.at("hash").get<std::string>()));
    CHECK(args.at("operands") == "f32[40,100] -> f32[40,100]");
    CHECK(args.at("bytes") == 32000);
  }
  CHECK(spans == profile.events().size());
  CHECK(rows == named);
  CHECK_THROWS_AS(profile.save_trace("/no/such/folder/trace.json"), hd::FileError);
}

TEST_CASE("profiles nest, and each has what happened while it lived") {
  const auto function = hd::jit(standardized);
  const hd::Array x = ramp();
  hd::Profile outer;
  function(x);
  {
    hd::Profile inner;
    function(x);
    CHECK(of(inner, "kernel").size() == 1);
  }
  function(x);
  CHECK(of(outer, "kernel").size() == 3);
  hd::Profile moved = std::move(outer);
  function(x);
  CHECK(of(moved, "kernel").size() == 4);
}

TEST_CASE("profiles come and go while other threads launch") {
  const auto function = hd::jit(standardized);
  const hd::Array x = ramp();
  const auto wanted = function(x).to_vector<float>();
  hd::Profile all;
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20 || !done; ++turn)
        wrong += function(x).to_vector<float>() != wanted;
    });
  }
  for (int i = 0; i < 200; ++i) {
    const hd::Profile one;
    function(x);
    CHECK(!of(one, "kernel").empty());
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  all.stop();
  CHECK(wrong == 0);
  std::set<std::uint32_t> seen;
  for (const hd::ProfileEvent& event : of(all, "kernel")) seen.insert(event.thread);
  CHECK(seen.size() == 3);
  CHECK(is_nested(of(all, "launch")));
}

TEST_CASE("the history keeps the last launches, with the lines of lazy code too") {
  const hd::Array x = ramp();
  CHECK(hd::kernel_history().empty());
  hd::set_kernel_history(3);
  for (int i = 0; i < 4; ++i) {
    const hd::Array y = hd::sin(x + static_cast<float>(i));
    y.eval();
  }
  hd::sort(x).eval();
  const std::vector<hd::KernelLaunch> launches = hd::kernel_history();
  hd::set_kernel_history(0);
  hd::cos(x).eval();
  CHECK(hd::kernel_history().empty());
  REQUIRE(launches.size() == 3);
  CHECK(is_sort(launches[2].kernel));
  for (int i = 0; i < 2; ++i) {
    CHECK(contains(launches[i].kernel, "hd_add_sin_f32_"));
    CHECK(launches[i].operands == "f32[40,100] -> f32[40,100]");
    CHECK(launches[i].microseconds.value() > 0);
    REQUIRE(!launches[i].lines.empty());
    CHECK(contains(launches[i].lines[0], "profile.cpp:"));
    CHECK(launches[i].start <= launches[i + 1].start);
  }
}
