#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heddle::ir {

/// Whether HEDDLE_DUMP, a comma-separated list, contains `stage` (ir, passes, plan, groups, cuda,
/// host, program) or "all".
bool dump_enabled(std::string_view stage);
/// If dump_enabled(stage), writes the result of `text` to stderr, or to a new numbered file in
/// HEDDLE_DUMP_DIR if that is set. Otherwise `text` is not called.
void dump(std::string_view stage, std::string_view title, const std::function<std::string()>& text);

}  // namespace heddle::ir
