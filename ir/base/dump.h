#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heddle::ir {

/// HEDDLE_DUMP, a comma-separated list, names the stage (ir, passes, plan, groups, cuda, host,
/// program) or all.
bool dump_enabled(std::string_view stage);
/// Writes text to stderr, or to a numbered file of HEDDLE_DUMP_DIR, when the stage is named. The
/// text is only made then.
void dump(std::string_view stage, std::string_view title, const std::function<std::string()>& text);

}  // namespace heddle::ir
