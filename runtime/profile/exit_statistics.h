#pragma once

namespace heddle::runtime {

/// Writes the process's statistics to standard error when the process ends. Further calls have no
/// effect.
void print_statistics_at_exit();

}  // namespace heddle::runtime
