#pragma once

#include <string>
#include <string_view>

namespace heddle::runtime {

/// Makes an empty folder that only this user can access, named `prefix` and six letters, in
/// $TMPDIR. If that is not set or cannot be written (which is warned of once), in /tmp or /var/tmp.
/// Throws std::system_error that names every folder tried.
std::string make_temporary_folder(std::string_view prefix);

/// A new empty folder `heddle-XXXXXX` from make_temporary_folder, removed with its contents. It is
/// locked while it is in use. The first folder that a process makes also removes leftovers of
/// killed processes: folders of this user that are more than an hour old and not locked.
class TemporaryFolder {
 public:
  /// Throws std::system_error.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;  ///< open descriptor of the folder, which holds the lock
};

}  // namespace heddle::runtime
