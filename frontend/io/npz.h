#pragma once

namespace heddle::frontend {

/// True if Heddle was built with libzip.
bool reads_npz();

}  // namespace heddle::frontend
