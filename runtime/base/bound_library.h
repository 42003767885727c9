#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dynamic_library.h"

/// Libraries of which a table of functions is called, each opened when first needed.
namespace heddle::runtime {

/// What became of one, for `heddle doctor`.
struct BoundLibrary {
  std::string title;
  std::string path;     ///< empty where it was not found
  std::string version;  ///< empty where it does not say
  std::string reason;   ///< why it cannot be used, and what to do; empty where it can
};

/// Opens the library and has `bind` fill its table, which adds the names that it lacks to `missing`
/// (DynamicLibrary::bind) and returns the library's version. Returns why it cannot be used, with
/// every place tried and `mend`, what to do about it; empty where it can.
std::string bind_library(
    const LibraryRequest& request, std::string_view mend,
    const std::function<std::string(const DynamicLibrary& library, std::string& missing)>& bind);

/// "13.0.2", by a function like cublasGetProperty; empty where there is none.
std::string version_by_property(const DynamicLibrary& library, const char* function);

/// All that were bound so far in this process, in order.
std::vector<BoundLibrary> bound_libraries();

}  // namespace heddle::runtime
