#include "runtime/cache/files.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <random>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/base/fault.h"

namespace heddle::runtime::cache {

namespace fs = std::filesystem;

namespace {

FileFacts facts_from(const struct stat& status) {
  return {.regular = S_ISREG(status.st_mode),
          .bytes = static_cast<std::uint64_t>(status.st_size),
          .modified = status.st_mtime,
          .owner = status.st_uid,
          .group = status.st_gid,
          .mode = status.st_mode & 07777U};
}

/// Appends up to `bytes` bytes of the file to `out`.
int read_more(int file, std::uint64_t bytes, std::string& out) try {
  std::size_t done = out.size();
  out.resize(done + bytes);
  while (done < out.size()) {
    const ssize_t count = ::read(file, out.data() + done, out.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  out.resize(done);
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
} catch (const std::length_error&) {
  return ENOMEM;
}

int read_open(int file, std::uint64_t most, std::string& out, FileFacts& facts,
              Plausible plausible) {
  struct stat status{};
  if (fstat(file, &status) != 0) return errno;
  facts = facts_from(status);
  if (!facts.regular || facts.bytes > most) return 0;
  if (fault::point(fault::Kind::file)) return EIO;
  constexpr std::uint64_t beginning = 4096;
  if (plausible != nullptr && facts.bytes > beginning) {
    if (const int error = read_more(file, beginning, out)) return error;
    if (!plausible(out, facts.bytes)) return 0;
  }
  return read_more(file, facts.bytes - out.size(), out);
}

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// A name that is unique across threads, processes and machines that share the file system.
std::string temporary_beside(const std::string& path) {
  static std::atomic<std::uint64_t> counter{0};
  std::random_device random;
  const fs::path folder = fs::path(path).parent_path();
  const std::uint64_t salt = (std::uint64_t{random()} << 32) | random();
  return (folder /
          fmt::format("{}{}-{}-{:016x}", temporary_prefix, getpid(), counter.fetch_add(1), salt))
      .string();
}

int write_new_file(const std::string& path, std::string_view bytes, Publishing how) {
  if (fault::point(fault::Kind::file)) return EIO;
  const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = fault::point(fault::Kind::file) ? ENOSPC : write_all(file, bytes);
  if (error == 0 && fchmod(file, how.mode) != 0) error = errno;
  if (error == 0 && how.lasting && fsync(file) != 0) error = errno;
  // A full disk or a remote file system may report an error only at close.
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

/// Syncs a file's folder, so that the file's name is on disk.
void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const int opened =
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);  // not supported by every file system
  close(opened);
}

}  // namespace

int facts_of(const std::string& path, FileFacts& facts) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return errno;
  facts = facts_from(status);
  return 0;
}

int read_file(const std::string& path, std::uint64_t most, std::string& out, FileFacts& facts,
              Plausible plausible) {
  out.clear();
  if (fault::point(fault::Kind::file)) return EIO;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return errno;
  const int error = read_open(file, most, out, facts, plausible);
  close(file);
  return error;
}

int publish_file(const std::string& path, std::string_view bytes, Publishing how) {
  const std::string temporary = temporary_beside(path);
  int error = write_new_file(temporary, bytes, how);
  if (error == 0) {
    if (fault::point(fault::Kind::file)) {
      error = EIO;
    } else if (rename(temporary.c_str(), path.c_str()) != 0) {
      error = errno;
    }
  }
  if (error != 0) unlink(temporary.c_str());
  if (error == 0 && how.lasting) sync_folder_of(path);
  return error;
}

int make_directories(const std::string& path, unsigned mode) {
  if (fault::point(fault::Kind::file)) return EIO;
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  const std::string above = fs::path(path).parent_path().string();
  if (!above.empty() && above != path) {
    if (const int error = make_directories(above, mode); error != 0) return error;
  }
  if (mkdir(path.c_str(), mode) != 0) return errno == EEXIST ? 0 : errno;
  // The umask has cleared bits of the mode.
  return chmod(path.c_str(), mode) == 0 ? 0 : errno;
}

int touch(const std::string& path) {
  return utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0 ? 0 : errno;
}

std::vector<FoundFile> find_files(const std::string& directory) {
  std::vector<FoundFile> out;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    // directory/v1/ab/file
    if (at.depth() > 2) at.disable_recursion_pending();
    if (at.depth() != 2) continue;
    const std::string name = at->path().filename().string();
    const bool temporary = name.starts_with(temporary_prefix);
    struct stat status{};
    if (!(temporary || name.ends_with(entry_suffix)) || lstat(at->path().c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode)) {
      continue;
    }
    const FileFacts facts = facts_from(status);
    out.push_back({at->path().string(), facts.bytes, facts.modified, temporary});
  }
  return out;
}

}  // namespace heddle::runtime::cache
