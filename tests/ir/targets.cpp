#include <string>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/types/target.h"

using namespace heddle;
using namespace heddle::ir;

TEST_CASE("built-in targets read back from their text") {
  for (const char* name : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90:h200", "sm_100",
                           "sm_120", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const Target target = parse_target(name);
    CHECK(parse_target(to_string(target)) == target);
    CHECK(std::string(name).starts_with(target.architecture));
    CHECK((target.kind == TargetKind::cuda) == target.architecture.starts_with("sm_"));
  }
}

TEST_CASE("the text of a target names every field") {
  CHECK(to_string(parse_target("sm_90:h200")) ==
        "cuda sm_90 sm=132 shared=232448 registers=65536 threads=1024 cluster=16 l2=62914560 "
        "vector=16");
  CHECK(to_string(parse_target("x86-64-v3")) ==
        "host x86-64-v3 sm=0 shared=0 registers=0 threads=0 cluster=1 l2=33554432 vector=32");
  CHECK(parse_target("sm_90") != parse_target("sm_90:h200"));
  const Target other = parse_target("cuda sm_90 sm=114 shared=1024");
  CHECK(other.multiprocessors == 114);
  CHECK(other.shared_bytes_per_block == 1024);
}

TEST_CASE("what is not a target is refused with the list of those that are") {
  CHECK_THROWS_WITH_AS(parse_target("sm_42"),
                       "'sm_42' is not a target (there is no built-in target of that name); "
                       "built-in targets are: sm_75 sm_80 sm_86 sm_89 sm_90 "
                       "sm_90:h200 sm_100 sm_120 x86-64 x86-64-v2 x86-64-v3 x86-64-v4",
                       ValueError);
  for (const char* text : {"", "cuda", "gpu sm_90", "cuda sm_90 sm=x", "cuda sm_90 sm=-1",
                           "cuda sm_90 warp=32", "cuda sm_90 sm=1x"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_target(text), ValueError);
  }
}

TEST_CASE("code of older instruction sets runs on newer ones, the best first") {
  const auto below = [](const char* name) {
    std::vector<std::string> names;
    for (const Target& each : targets_below(parse_target(name))) names.push_back(each.architecture);
    return names;
  };
  CHECK(below("x86-64-v4") == std::vector<std::string>{"x86-64-v3", "x86-64-v2", "x86-64"});
  CHECK(below("host x86-64-v3 vector=32 l2=1048576") ==
        std::vector<std::string>{"x86-64-v2", "x86-64"});
  for (const char* none : {"x86-64", "host armv8-a vector=16", "sm_90"}) CHECK(below(none).empty());
}

TEST_CASE("a device plans as the built-in row of its like") {
  for (const std::string_view name : built_in_targets()) {
    CHECK(nearest_built_in(parse_target(name)) == parse_target(name));
  }
  const std::string block = " shared=232448 registers=65536 threads=1024 cluster=16 vector=16";
  const auto nearest = [&](const std::string& text) {
    return to_string(nearest_built_in(parse_target(text)));
  };
  // An H100 with 114 multiprocessors, an H200, and a slice of one that is too small to be like it.
  CHECK(nearest("cuda sm_90 sm=114 l2=52428800" + block) == to_string(parse_target("sm_90")));
  CHECK(nearest("cuda sm_90 sm=132 l2=62914560" + block) == to_string(parse_target("sm_90:h200")));
  const Target slice = parse_target("cuda sm_90 sm=16 l2=8388608" + block);
  CHECK(nearest_built_in(slice) == slice);
  CHECK(nearest("host x86-64-v3 vector=32 l2=1048576") == to_string(parse_target("x86-64-v3")));
  const Target other = parse_target("host armv8-a vector=16 l2=1048576");
  CHECK(nearest_built_in(other) == other);
}
