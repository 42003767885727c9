#include "runtime/kept_sources.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/cache/store.h"
#include "runtime/fault.h"
#include "runtime/log.h"

namespace heddle::runtime {

namespace fs = std::filesystem;

namespace {

std::string find_folder() {
  const char* const wanted = std::getenv("HEDDLE_LINE_INFO");
  if (wanted == nullptr || std::string_view(wanted) != "1") return {};
  const char* const dumps = std::getenv("HEDDLE_DUMP_DIR");
  if (dumps != nullptr && *dumps != '\0') return fs::absolute(dumps).string();
  const cache::StoreOptions& cache = cache::Store::global().options();
  if (cache.enabled && !cache.directory.empty())
    return (fs::absolute(cache.directory) / "sources").string();
  log().warn("HEDDLE_LINE_INFO=1, and no folder is known for sources: set HEDDLE_DUMP_DIR");
  return {};
}

/// Other processes may read the file, or write the same, just now.
bool write_whole(const fs::path& path, std::string_view text) {
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  const fs::path temporary = fmt::format("{}.{}", path.string(), getpid());
  std::ofstream file(temporary, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file.fail() || fault::point(fault::Kind::file)) return false;
  fs::rename(temporary, path, failure);
  return !failure;
}

}  // namespace

const std::string& source_folder() {
  static const auto* const folder = new std::string(find_folder());
  return *folder;
}

std::string source_path(std::string_view folder, std::string_view kernel, bool on_host) {
  return fmt::format("{}/{}.{}", folder, kernel, on_host ? "cpp" : "cu");
}

void keep_source(const std::string& kernel, bool on_host, std::string_view text) {
  if (source_folder().empty()) return;
  const std::string path = source_path(source_folder(), kernel, on_host);
  std::error_code failure;
  if (fs::exists(path, failure) || write_whole(path, text)) return;
  static std::once_flag warned;
  std::call_once(warned, [&] {
    log().warn("{} cannot be written; tools will not find the kernel's source", path);
  });
}

}  // namespace heddle::runtime
