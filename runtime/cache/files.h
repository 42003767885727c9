#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

/// File operations of the cache. They return an errno value, 0 for success, and do not throw. Each
/// is a fault injection point.
namespace heddle::runtime::cache {

struct FileFacts {
  bool regular = false;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< seconds since 1970
  unsigned owner = 0, group = 0;
  unsigned mode = 0;  ///< permission bits
};

/// The facts of a file or folder. Follows symbolic links.
int facts_of(const std::string& path, FileFacts& facts);

/// Whether a file of this size that begins with these bytes may be the wanted kind of file.
using Plausible = bool (*)(std::string_view beginning, std::uint64_t file_bytes);
/// Reads a whole file. `out` stays empty if the file is not regular or has more than `most` bytes;
/// it holds only the first 4 KiB if those are not plausible. `facts` are set in every case. Returns
/// ENOMEM if memory is short. Follows a symbolic link; never blocks, whatever the target is.
int read_file(const std::string& path, std::uint64_t most, std::string& out, FileFacts& facts,
              Plausible plausible = nullptr);

/// Options for writing a file.
struct Publishing {
  unsigned mode = 0600;  ///< applied regardless of the umask
  bool lasting = false;  ///< sync to disk before returning; for files without a checksum
};
/// Writes a temporary file beside `path` and renames it to `path`.
int publish_file(const std::string& path, std::string_view bytes, Publishing how = {});
/// Makes a directory and its missing parents, with this mode regardless of the umask.
int make_directories(const std::string& path, unsigned mode = 0700);
/// Sets a file's time of modification to now.
int touch(const std::string& path);

struct FoundFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;
  bool temporary = false;  ///< a writer's file that has not been renamed yet
};
/// Entries and temporary files under a cache directory, of all format versions. Other files are
/// skipped.
std::vector<FoundFile> find_files(const std::string& directory);

inline constexpr std::string_view entry_suffix = ".entry";
inline constexpr std::string_view temporary_prefix = ".tmp-";

}  // namespace heddle::runtime::cache
