#include "frontend/io/input_file.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/graph/record.h"
#include "runtime/base/host_memory.h"

namespace heddle::frontend {

std::string why_not_input(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0)
    return fmt::format("cannot be opened: {}", std::strerror(errno));
  if (S_ISREG(status.st_mode)) return {};
  const bool is_pipe = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
  return S_ISDIR(status.st_mode) ? "cannot be read: it is a folder"
         : is_pipe               ? "cannot be read: it is a pipe, not a file"
                                 : "cannot be read: it is a device, not a file";
}

std::ifstream open_input(std::string_view op, const std::string& path,
                         const SourceLocation& where) {
  std::string why = why_not_input(path);
  if (why.empty()) {
    std::ifstream stream(path, std::ios::binary);
    if (stream) return stream;
    why = "cannot be opened";
  }
  throw FileError(at(fmt::format("{}: {} {}", op, path, why), where));
}

void require_memory(std::string_view op, const std::string& path, std::uint64_t bytes,
                    const SourceLocation& where) {
  constexpr std::uint64_t worth_asking = std::uint64_t{64} << 20;
  if (bytes < worth_asking) return;
  const std::uint64_t free = runtime::host_free_bytes();
  if (bytes <= free) return;
  throw OutOfMemory(
      at(fmt::format("{}: {} takes {} bytes of memory, and {} are free", op, path, bytes, free),
         where));
}

void fail_for_memory(std::string_view op, const std::string& path, const SourceLocation& where) {
  throw OutOfMemory(at(fmt::format("{}: there is no memory for {}", op, path), where));
}

}  // namespace heddle::frontend
