#pragma once

#include <string>

#include "passes/report/report.h"

namespace heddle::codegen {

/// A report as one HTML page: the files of codegen/page/ around the report's JSON. The page loads
/// nothing else; its Content-Security-Policy forbids it.
std::string to_html(const passes::Report& report);

}  // namespace heddle::codegen
