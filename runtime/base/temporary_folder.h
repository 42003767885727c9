#pragma once

#include <string>
#include <string_view>

namespace heddle::runtime {

/// Makes an empty folder for this user alone, `prefix` and six letters, under $TMPDIR; where that
/// is not set or cannot be written, which is warned of once, under /tmp or /var/tmp. Throws
/// std::system_error that names all that were tried.
std::string make_temporary_folder(std::string_view prefix);

/// A new empty folder `heddle-XXXXXX` of make_temporary_folder, removed with all that is in it. It
/// is locked while it is in use: the first folder that a process makes also removes those of this
/// user that are more than an hour old and that nobody has locked, which killed processes leave.
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
  int lock_ = -1;  ///< a descriptor of the folder
};

}  // namespace heddle::runtime
