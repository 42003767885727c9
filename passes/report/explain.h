#pragma once

#include <string>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// The plan in words (to_text of passes/report/report.h), for dumps: without what passes, printers
/// and compilers say.
std::string explain(const PlannedProgram& planned);

}  // namespace heddle::passes
