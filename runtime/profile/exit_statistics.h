#pragma once

namespace heddle::runtime {

/// From now on the process's statistics are written to standard error when it ends. Once.
void tell_statistics_at_exit();

}  // namespace heddle::runtime
