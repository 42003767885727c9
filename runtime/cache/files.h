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
  unsigned owner = 0;
};

/// Reads a whole file; one of more than `most` bytes reads as nothing, with `facts` set.
int read_file(const std::string& path, std::uint64_t most, std::string& out, FileFacts& facts);
/// Writes a new file beside `path` and renames it to that.
int publish_file(const std::string& path, std::string_view bytes);
/// Makes a directory and those above it, for this user alone.
int make_directories(const std::string& path);
/// 0 where this user may keep code in the directory: it is his own or root's, and no other user may
/// write there.
int check_private(const std::string& path);
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
