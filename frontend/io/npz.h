#pragma once

namespace heddle::frontend {

/// Whether Heddle was built with libzip.
bool reads_npz();

}  // namespace heddle::frontend
