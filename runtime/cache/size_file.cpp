#include "runtime/cache/size_file.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace heddle::runtime::cache {

SizeFile::SizeFile(const std::string& directory)
    : file_(open((directory + "/size").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)),
      summed_(std::time(nullptr)) {
  // If the file system has no locks, or a process hangs while holding one, several processes may
  // count at the same time. The next full count corrects the error.
  constexpr int tries = 1000;
  constexpr std::chrono::milliseconds pause(5);
  for (int i = 0; file_ >= 0 && i < tries; ++i) {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
    std::this_thread::sleep_for(pause);
  }
}

SizeFile::~SizeFile() {
  if (file_ >= 0) close(file_);
}

std::optional<std::uint64_t> SizeFile::bytes(std::chrono::seconds interval) const {
  Content content;
  if (file_ < 0 || pread(file_, &content, sizeof content, 0) != sizeof content) return std::nullopt;
  const std::int64_t age = std::time(nullptr) - content.summed;
  if (age < -clock_tolerance || age >= interval.count()) return std::nullopt;
  summed_ = content.summed;
  return content.bytes;
}

void SizeFile::set_bytes(std::uint64_t bytes) const {
  const Content content{bytes, summed_};
  // If the file cannot be written, every call counts the whole directory.
  if (file_ >= 0 && pwrite(file_, &content, sizeof content, 0) < 0) return;
}

}  // namespace heddle::runtime::cache
