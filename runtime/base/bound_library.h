#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dynamic_library.h"

/// Dynamically loaded libraries, each a table of functions, opened when first needed.
namespace heddle::runtime {

/// The state of a library, for `heddle doctor`.
struct BoundLibrary {
  std::string title;
  std::string path;     ///< empty if it was not found
  std::string version;  ///< empty if unknown
  std::string reason;   ///< why it cannot be used, and what to do; empty if it can
};

/// Opens the library and calls `bind`, which fills the function table, appends the names of missing
/// functions to `missing` (see DynamicLibrary::bind), and returns the library's version. Returns an
/// empty string on success; otherwise the reason, every location tried, and `mend`, the advice to
/// the user.
std::string bind_library(
    const LibraryRequest& request, std::string_view mend,
    const std::function<std::string(const DynamicLibrary& library, std::string& missing)>& bind);

/// The version ("13.0.2") from a function like cublasGetProperty; empty if the library lacks it.
std::string version_by_property(const DynamicLibrary& library, const char* function);

/// All libraries bound so far in this process, in order.
std::vector<BoundLibrary> bound_libraries();

}  // namespace heddle::runtime
