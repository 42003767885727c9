#include "runtime/cache/files.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <random>
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
          .owner = status.st_uid};
}

int read_all(int file, std::uint64_t bytes, std::string& out) {
  out.resize(bytes);
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::read(file, out.data() + done, out.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  out.resize(done);
  return 0;
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

/// A name that no other thread, process or machine on the same file system makes.
std::string temporary_beside(const std::string& path) {
  static std::atomic<std::uint64_t> counter{0};
  std::random_device random;
  const fs::path folder = fs::path(path).parent_path();
  const std::uint64_t salt = (std::uint64_t{random()} << 32) | random();
  return fmt::format("{}/{}{}-{}-{:016x}", folder.string(), temporary_prefix, getpid(),
                     counter.fetch_add(1), salt);
}

int write_new_file(const std::string& path, std::string_view bytes) {
  if (fault::point(fault::Kind::file)) return EIO;
  const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = fault::point(fault::Kind::file) ? ENOSPC : write_all(file, bytes);
  // A full or remote disk may say so only here.
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

int read_file(const std::string& path, std::uint64_t most, std::string& out, FileFacts& facts) {
  out.clear();
  if (fault::point(fault::Kind::file)) return EIO;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errno;
  struct stat status{};
  int error = fstat(file, &status) == 0 ? 0 : errno;
  if (error == 0) {
    facts = facts_from(status);
    if (facts.regular && facts.bytes <= most) {
      error = fault::point(fault::Kind::file) ? EIO : read_all(file, facts.bytes, out);
    }
  }
  close(file);
  return error;
}

int publish_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = temporary_beside(path);
  int error = write_new_file(temporary, bytes);
  if (error == 0) {
    if (fault::point(fault::Kind::file)) {
      error = EIO;
    } else if (rename(temporary.c_str(), path.c_str()) != 0) {
      error = errno;
    }
  }
  if (error != 0) unlink(temporary.c_str());
  return error;
}

int make_directories(const std::string& path) {
  if (fault::point(fault::Kind::file)) return EIO;
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  const std::string above = fs::path(path).parent_path().string();
  if (!above.empty() && above != path) {
    if (const int error = make_directories(above); error != 0) return error;
  }
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

int check_private(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (!S_ISDIR(status.st_mode)) return ENOTDIR;
  const bool own = status.st_uid == geteuid() || status.st_uid == 0;
  const bool open_to_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != getegid();
  const bool open_to_all = (status.st_mode & S_IWOTH) != 0;
  return own && !open_to_group && !open_to_all ? 0 : EPERM;
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
