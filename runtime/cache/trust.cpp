#include "runtime/cache/trust.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

namespace heddle::runtime::cache {

namespace fs = std::filesystem;

namespace {

/// "eve (1001)", or "1001" if the system has no name for the number.
std::string with_name(const char* name, unsigned number) {
  return name != nullptr ? fmt::format("{} ({})", name, number) : fmt::format("{}", number);
}

std::string user_name(unsigned number) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  getpwuid_r(number, &entry, text.data(), text.size(), &found);
  return with_name(found != nullptr ? found->pw_name : nullptr, number);
}

std::string group_name(unsigned number) {
  group entry{};
  group* found = nullptr;
  std::array<char, 4096> text{};
  getgrgid_r(number, &entry, text.data(), text.size(), &found);
  return with_name(found != nullptr ? found->gr_name : nullptr, number);
}

}  // namespace

std::string owner_and_mode(const FileFacts& facts) {
  return fmt::format("owner {}, mode {:04o}", user_name(facts.owner), facts.mode);
}

std::string why_foreign(const FileFacts& facts) {
  if (facts.owner != geteuid() && facts.owner != 0)
    return fmt::format("it belongs to another user: {}", owner_and_mode(facts));
  const bool keeps_owners = !facts.regular && (facts.mode & S_ISVTX) != 0;
  if (keeps_owners) return {};
  if ((facts.mode & S_IWOTH) != 0)
    return fmt::format("every user can write to it: {}", owner_and_mode(facts));
  if ((facts.mode & S_IWGRP) != 0 && facts.group != facts.owner) {
    return fmt::format("its group {} can write to it: {}", group_name(facts.group),
                       owner_and_mode(facts));
  }
  return {};
}

std::string why_foreign_folder(const std::string& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return fmt::format("{} cannot be found: {}", file, error.message());
  const std::string folder = real.parent_path().string();
  FileFacts facts;
  if (const int failed = facts_of(folder, facts)) return describe_error(folder, failed);
  const std::string why = why_foreign(facts);
  return why.empty() ? why : fmt::format("its folder {}: {}", folder, why);
}

std::string describe_error(const std::string& path, int error) {
  const std::string text = std::strerror(error);
  if (error != EACCES && error != EPERM) return text;
  // From the top down: nothing is accessible below the first closed folder.
  fs::path at;
  for (const fs::path& part : fs::path(path)) {
    at /= part;
    FileFacts facts;
    if (facts_of(at.string(), facts) != 0) break;
    const bool is_last = at == fs::path(path);
    if (access(at.c_str(), is_last ? R_OK : X_OK) == 0) continue;
    return fmt::format("{} ({}: {})", text, at.string(), owner_and_mode(facts));
  }
  return text;
}

}  // namespace heddle::runtime::cache
