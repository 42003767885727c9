#include "frontend/io/atomic_file.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "frontend/graph/record.h"
#include "ir/base/new_file.h"

namespace heddle::frontend {

namespace fs = std::filesystem;

namespace {

/// Removes the file unless it was renamed.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  ~Temporary() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const fs::path& path() const { return path_; }
  std::error_code rename_to(const fs::path& path) {
    std::error_code error;
    fs::rename(path_, path, error);
    if (!error) path_.clear();
    return error;
  }

 private:
  fs::path path_;
};

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void sync(const fs::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return;
  fsync(file);  // not supported by every file system
  close(file);
}

}  // namespace

void sync_to_disk(const std::string& path) {
  sync(path, O_RDONLY);
  sync(folder_of(path), O_RDONLY | O_DIRECTORY);
}

std::string with_suffix(const std::string& path, std::string_view suffix) {
  return path.ends_with(suffix) ? path : path + std::string(suffix);
}

void write_whole(std::string_view op, const std::string& path, const SourceLocation& where,
                 const std::function<void(std::ostream&)>& write) {
  const auto fail = [&](std::string_view what) {
    throw FileError(at(fmt::format("{}: {} {}", op, path, what), where));
  };
  const auto write_to = [&](const fs::path& to) {
    std::ofstream stream(to, std::ios::binary | std::ios::trunc);
    if (!stream) fail("cannot be written");
    write(stream);
    stream.close();
    if (!stream) fail("cannot be written; is the disk full?");
  };
  std::error_code ignored, error;
  const fs::file_status status = fs::status(path, ignored);
  // Pipes and devices are written in place. For a link, the file that it points to is replaced.
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_to(path);
  const fs::path real = fs::weakly_canonical(path, error);
  const fs::path target = error ? fs::path(path) : real;
  error.clear();
  // The address makes the name different from those of other threads.
  Temporary temporary(target.parent_path() /
                      fmt::format(".heddle-{}-{}.tmp", getpid(), static_cast<const void*>(&write)));
  // Created as a new file, so that an existing link of that name is not followed.
  if (const int failed = ir::write_new_file(temporary.path().string(), "", ir::Folder::is_there))
    fail(fmt::format("cannot be written: {}", std::strerror(failed)));
  write_to(temporary.path());
  sync(temporary.path(), O_RDONLY);
  if (fs::exists(status)) fs::permissions(temporary.path(), status.permissions(), error);
  if (error) fail(error.message());
  if (const std::error_code renamed = temporary.rename_to(target)) fail(renamed.message());
  sync(folder_of(target), O_RDONLY | O_DIRECTORY);
}

}  // namespace heddle::frontend
