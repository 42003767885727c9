#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/pipeline/program_builder.h"

namespace heddle::test {

/// Both kinds of target that tests plan for.
inline constexpr const char* cuda_target = "sm_90:h200";
inline constexpr const char* host_target = "x86-64-v3";

/// The program of a graph in text form.
inline passes::PlannedProgram plan(std::string_view text, std::string_view target,
                                   std::vector<bool> donated = {},
                                   std::vector<std::string> disabled = {}) {
  return passes::plan_program(
      ir::parse(text), {ir::parse_target(target), std::move(donated), {}, std::move(disabled)});
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace heddle::test
