#include "runtime/compile/kept_sources.h"

#include <filesystem>
#include <mutex>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "ir/base/environment.h"
#include "ir/base/new_file.h"
#include "runtime/base/fault.h"
#include "runtime/base/log.h"
#include "runtime/cache/store.h"

namespace heddle::runtime {

namespace fs = std::filesystem;

namespace {

std::string find_folder() {
  if (!ir::flag(ir::Variable::line_info, false)) return {};
  const std::string dumps = ir::environment(ir::Variable::dump_dir);
  if (!dumps.empty()) return fs::absolute(dumps).string();
  const cache::StoreOptions& cache = cache::Store::global().options();
  if (cache.enabled && !cache.directory.empty())
    return (fs::absolute(cache.directory) / "sources").string();
  log().warn("HEDDLE_LINE_INFO=1, but there is no folder for sources: set HEDDLE_DUMP_DIR");
  return {};
}

/// Writes atomically, because other processes may read or write the same file.
bool write_whole(const fs::path& path, std::string_view text) {
  std::error_code failure;
  const fs::path temporary = fmt::format("{}.{}", path.string(), getpid());
  if (ir::write_new_file(temporary, text) != 0 || fault::point(fault::Kind::file)) return false;
  fs::rename(temporary, path, failure);
  return !failure;
}

}  // namespace

const std::string& source_folder() {
  static const auto* const folder = new std::string(find_folder());
  return *folder;
}

std::string source_path(std::string_view folder, std::string_view kernel,
                        std::string_view extension) {
  return fmt::format("{}/{}{}", folder, kernel, extension);
}

void keep_source(const std::string& kernel, std::string_view extension, std::string_view text) {
  if (source_folder().empty()) return;
  const std::string path = source_path(source_folder(), kernel, extension);
  std::error_code failure;
  if (fs::exists(path, failure) || write_whole(path, text)) return;
  static std::once_flag warned;
  std::call_once(warned, [&] {
    log().warn("{} cannot be written; tools will not find the kernel's source", path);
  });
}

}  // namespace heddle::runtime
