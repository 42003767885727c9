#pragma once

#include <cstdint>

namespace heddle {

/// Who may have written a file with native code (a saved program or a bundle) for it to be loaded.
/// Loading it means running its author's code. If HEDDLE_CACHE_KEY is set, only files signed with
/// that key are loaded, and this setting has no effect.
enum class Trust : std::uint8_t {
  own,    ///< only this user and root may have written the file and may write to its folder
  anyone  ///< anyone may have written it
};

}  // namespace heddle
