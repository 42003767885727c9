#include "runtime/base/temporary_folder.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/base/environment.h"
#include "runtime/base/log.h"

namespace heddle::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "heddle-", placeholder = "XXXXXX";
/// Seconds. Longer than the time between creating a folder and locking it.
constexpr std::time_t sweep_age = 3600;

/// The parent folders to try, the best first.
std::vector<std::string> roots() {
  std::vector<std::string> all;
  if (std::string chosen = ir::environment(ir::Variable::tmpdir); !chosen.empty())
    all.push_back(std::move(chosen));
  for (const char* usual : {"/tmp", "/var/tmp"}) {
    if (std::ranges::find(all, usual) == all.end()) all.emplace_back(usual);
  }
  return all;
}

bool has_our_name(std::string_view name) {
  return name.size() == prefix.size() + placeholder.size() && name.starts_with(prefix) &&
         std::ranges::all_of(name.substr(prefix.size()), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

int open_folder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Whether the folder belongs to this user and is older than sweep_age.
bool may_be_swept(int folder) {
  struct stat facts{};
  return fstat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
         std::time(nullptr) - facts.st_mtime > sweep_age;
}

/// Removes the folder if no process holds its lock.
void sweep(const std::string& path) {
  const int folder = open_folder(path);
  if (folder < 0) return;
  if (may_be_swept(folder) && flock(folder, LOCK_EX | LOCK_NB) == 0) {
    std::error_code failure;
    fs::remove_all(path, failure);
    log().debug("{}, left by an ended process, {}", path,
                failure ? "cannot be removed: " + failure.message() : "was removed");
  }
  close(folder);
}

void sweep_all() {
  for (const std::string& root : roots()) {
    std::error_code failure;
    for (fs::directory_iterator entry(root, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (has_our_name(entry->path().filename().string())) sweep(entry->path().string());
    }
  }
}

}  // namespace

std::string make_temporary_folder(std::string_view start) {
  std::string tried;
  int first_error = 0;
  for (const std::string& root : roots()) {
    std::string path = fmt::format("{}/{}{}", root, start, placeholder);
    if (mkdtemp(path.data()) != nullptr) {
      static std::once_flag warned;
      if (first_error != 0)
        std::call_once(warned, [&] { log().warn("{}; {} is used instead", tried, root); });
      return path;
    }
    if (first_error == 0) first_error = errno;
    tried += fmt::format("{}no folder can be created in {} ({})", tried.empty() ? "" : ", ", root,
                         std::strerror(errno));
  }
  throw std::system_error(first_error, std::generic_category(), tried);
}

TemporaryFolder::TemporaryFolder() {
  static std::once_flag swept;
  std::call_once(swept, sweep_all);
  path_ = make_temporary_folder(prefix);
  // On a file system without folder locks, sweep() cannot lock either and removes nothing.
  lock_ = open_folder(path_);
  if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace heddle::runtime
