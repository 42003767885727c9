#pragma once

#include <string>

#include "passes/pipeline/program_builder.h"

namespace heddle::passes {

/// The plan as text (to_text of passes/report/report.h), for dumps. Contains no information from
/// passes, printers or compilers.
std::string explain(const PlannedProgram& planned);

}  // namespace heddle::passes
