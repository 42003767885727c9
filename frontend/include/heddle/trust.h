#pragma once

#include <cstdint>

namespace heddle {

/// From whom a file with native code is taken: a saved program or a bundle. Loading one is running
/// a program of whoever wrote it. With HEDDLE_CACHE_KEY set only what that key has signed is taken,
/// whatever this says.
enum class Trust : std::uint8_t {
  own,    ///< only this user and root may have written the file and may write to its folder
  anyone  ///< from anyone who may have written it
};

}  // namespace heddle
