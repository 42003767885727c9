#pragma once

#include <string>

namespace heddle::frontend {

/// Why .npz files cannot be read or written; empty if they can.
std::string npz_unavailable_reason();

}  // namespace heddle::frontend
