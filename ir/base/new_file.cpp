#include "ir/base/new_file.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace heddle::ir {

namespace {

/// Returns a file descriptor, or -1 with errno set.
int open_new(const std::string& path) {
  constexpr int tries = 10;  // another process may create the file between the two calls
  for (int i = 0; i < tries; ++i) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return -1;
    const int file = open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

}  // namespace

int write_new_file(const std::string& path, std::string_view text, Folder folder) {
  const std::filesystem::path above = std::filesystem::path(path).parent_path();
  std::error_code failure;
  if (folder == Folder::is_made && !above.empty())
    std::filesystem::create_directories(above, failure);
  const int file = open_new(path);
  if (file < 0) return errno;
  int error = 0;
  while (!text.empty() && error == 0) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace heddle::ir
