#include "ir/base/kept_text.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "ir/base/fork_gate.h"

namespace heddle::ir {

namespace {

/// A thread's recently used names, by address.
struct RecentNames {
  struct Name {
    const char* given = nullptr;
    const char* kept = nullptr;
  };
  std::array<Name, 16> names;
  const char* latest = nullptr;  ///< returned last, so a kept name
};
constinit thread_local RecentNames recent;

}  // namespace

const char* kept_text(std::string_view text) {
  static constinit Mutex mutex;
  static auto* const texts = new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  const auto found = texts->find(text);
  return (found != texts->end() ? found : texts->emplace(text).first)->c_str();
}

const char* interned_file_name(const char* name) {
  if (name == recent.latest && name != nullptr) return name;
  const auto address = reinterpret_cast<std::uintptr_t>(name);
  RecentNames::Name& last = recent.names[(address ^ (address >> 6U)) % recent.names.size()];
  // The address may hold another name by now, because another library was loaded there.
  if (last.given != name || std::strcmp(last.kept, name) != 0) last = {name, kept_text(name)};
  return recent.latest = last.kept;
}

}  // namespace heddle::ir
