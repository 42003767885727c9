#include "runtime/base/bound_library.h"

#include <mutex>

#include <fmt/format.h>

#include "ir/base/fork_gate.h"

namespace heddle::runtime {

namespace {

struct Registry {
  ir::Mutex mutex;
  std::vector<BoundLibrary> libraries;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

BoundLibrary open_and_bind(
    const LibraryRequest& request, std::string_view mend,
    const std::function<std::string(const DynamicLibrary&, std::string&)>& bind) {
  BoundLibrary bound{request.title, {}, {}, {}};
  LibraryReport report;
  const auto library = DynamicLibrary::open(request, &report);
  if (!library) {
    bound.reason = report.text() + std::string(mend);
    return bound;
  }
  bound.path = library->path();
  std::string missing;
  bound.version = bind(*library, missing);
  if (!missing.empty())
    bound.reason = fmt::format("{} is too old: it lacks{}. {}", bound.path, missing, mend);
  return bound;
}

}  // namespace

std::string bind_library(
    const LibraryRequest& request, std::string_view mend,
    const std::function<std::string(const DynamicLibrary&, std::string&)>& bind) {
  BoundLibrary bound = open_and_bind(request, mend, bind);
  const std::lock_guard lock(registry().mutex);
  return registry().libraries.emplace_back(std::move(bound)).reason;
}

std::string version_by_property(const DynamicLibrary& library, const char* function) {
  const auto get = reinterpret_cast<int (*)(int property, int* value)>(library.symbol(function));
  int parts[3] = {};  // major, minor, patch
  for (int i = 0; i < 3; ++i) {
    if (get == nullptr || get(i, &parts[i]) != 0) return {};
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

std::vector<BoundLibrary> bound_libraries() {
  const std::lock_guard lock(registry().mutex);
  return registry().libraries;
}

}  // namespace heddle::runtime
