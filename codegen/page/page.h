#pragma once

#include <string>

#include "passes/report/report.h"

namespace heddle::codegen {

/// A report as one HTML page: the files of codegen/page/ around the report's JSON. It loads no
/// other resource, and its policy forbids that.
std::string to_html(const passes::Report& report);

}  // namespace heddle::codegen
