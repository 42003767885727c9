#include "frontend/whole_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "frontend/record.h"

namespace heddle::frontend {

namespace {

/// Removes the file unless it got its name.
class Temporary {
 public:
  explicit Temporary(std::string path) : path_(std::move(path)) {}
  ~Temporary() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const std::string& path() const { return path_; }
  std::error_code rename_to(const std::string& path) {
    std::error_code error;
    std::filesystem::rename(path_, path, error);
    if (!error) path_.clear();
    return error;
  }

 private:
  std::string path_;
};

}  // namespace

void write_whole(std::string_view op, const std::string& path, const SourceLocation& where,
                 const std::function<void(std::ostream&)>& write) {
  // The address tells it from what other threads write.
  Temporary temporary(
      fmt::format("{}.{}.{}.tmp", path, getpid(), static_cast<const void*>(&write)));
  const auto fail = [&](std::string_view what) {
    throw FileError(at(fmt::format("{}: {} {}", op, path, what), where));
  };
  {
    std::ofstream stream(temporary.path(), std::ios::binary | std::ios::trunc);
    if (!stream) fail("cannot be written");
    write(stream);
    stream.close();
    if (!stream) fail("cannot be written; is the disk full?");
  }
  if (const std::error_code error = temporary.rename_to(path)) fail(error.message());
}

}  // namespace heddle::frontend
