#pragma once

#include <string>

namespace heddle::runtime {

/// A new empty folder `heddle-XXXXXX` under $TMPDIR or /tmp, removed with all that is in it. It is
/// locked while it is in use: the first folder that a process makes also removes those of this user
/// that are more than an hour old and that nobody has locked, which killed processes leave.
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
