#pragma once

#include <string>

#include "passes/report/report.h"

namespace heddle::codegen {

/// A report as one HTML page: the files of codegen/page/ around its JSON. It loads nothing, and
/// forbids itself to.
std::string to_html(const passes::Report& report);

}  // namespace heddle::codegen
