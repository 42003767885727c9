#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

/// The file calls of the cache. They return errno's value, 0 for success, and throw nothing; each
/// is a fault point.
namespace heddle::runtime::cache {

struct FileFacts {
  bool regular = false;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< seconds since 1970
  unsigned owner = 0, group = 0;
  unsigned mode = 0;  ///< of permissions
};

/// The facts of a file or folder, links followed.
int facts_of(const std::string& path, FileFacts& facts);

/// Whether a file of so many bytes that begins so may be what is looked for.
using Plausible = bool (*)(std::string_view beginning, std::uint64_t file_bytes);
/// Reads a whole file. One that is not regular, of more than `most` bytes, or whose first 4 KiB are
/// not plausible reads as nothing, or as these; `facts` are set. ENOMEM where there is no memory
/// for it. A link is followed; what it names never makes this wait.
int read_file(const std::string& path, std::uint64_t most, std::string& out, FileFacts& facts,
              Plausible plausible = nullptr);

/// How a file is written.
struct Publishing {
  unsigned mode = 0600;  ///< whatever the umask
  bool lasting = false;  ///< is on the disk when it returns, for files without a checksum
};
/// Writes a new file beside `path` and renames it to that.
int publish_file(const std::string& path, std::string_view bytes, Publishing how = {});
/// Makes a directory, and those above it that are not there, of this mode whatever the umask.
int make_directories(const std::string& path, unsigned mode = 0700);
/// Sets a file's time of modification to now.
int touch(const std::string& path);

struct FoundFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;
  bool temporary = false;  ///< a writer's that was not yet renamed
};
/// Entries and temporary files under a cache's directory, of all format versions. Anything else
/// there is passed over.
std::vector<FoundFile> find_files(const std::string& directory);

inline constexpr std::string_view entry_suffix = ".entry";
inline constexpr std::string_view temporary_prefix = ".tmp-";

}  // namespace heddle::runtime::cache
