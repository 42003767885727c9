#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <unistd.h>

#include "heddle/error.h"

#include "runtime/base/log.h"
#include "runtime/cache/image.h"
#include "runtime/cache/size_file.h"
#include "runtime/cache/store.h"

// Operations on the whole directory: eviction and listings.

namespace heddle::runtime::cache {

namespace {

/// A temporary file of at least this age was left by a killed writer.
constexpr std::int64_t orphan_seconds = 3600;

/// Whether an entry's payload, whose checksum is valid, can be decoded.
bool is_sound(const Entry& entry) {
  if (entry.kind != PayloadKind::program) return true;
  try {
    static_cast<void>(decode_program_image(entry.payload));
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

/// The time of the last use. A time in the future is not meaningful and counts as 0.
std::int64_t last_use(const FoundFile& file, std::int64_t now) {
  return file.modified > now + clock_tolerance ? 0 : file.modified;
}

}  // namespace

/// Evicts entries to make room for `bytes` more, and counts those; false if there cannot be enough
/// room.
bool Store::make_room(const SizeFile& size, std::uint64_t bytes) {
  const std::uint64_t limit = options_.size_limit;
  if (bytes > limit) return false;
  const std::optional<std::uint64_t> counted = size.bytes(options_.sweep_interval);
  std::uint64_t left = counted.value_or(0);
  if (!counted || left > limit - bytes)
    evict(limit - bytes, std::min(limit / 5 * 4, limit - bytes), left);
  size.set_bytes(left + bytes);
  return true;
}

std::uint64_t Store::shrink(std::uint64_t bytes) {
  const SizeFile size(options_.directory);
  std::uint64_t left = 0;
  // Evicts to somewhat below the limit, so that the next write does not evict again.
  const std::uint64_t gone = evict(bytes, bytes / 5 * 4, left);
  size.set_bytes(left);
  return gone;
}

/// If the entries have more than `limit` bytes in total, deletes the least recently used ones until
/// `goal` bytes remain. Also deletes temporary files left by killed writers. `left` receives the
/// number of bytes that remain.
std::uint64_t Store::evict(std::uint64_t limit, std::uint64_t goal, std::uint64_t& left) {
  std::vector<FoundFile> files = find_files(options_.directory);
  const std::int64_t now = std::time(nullptr);
  left = 0;
  std::erase_if(files, [&](const FoundFile& file) {
    if (file.temporary) {
      if (std::abs(now - file.modified) > orphan_seconds) unlink(file.path.c_str());
      return true;
    }
    left += file.bytes;
    return false;
  });
  if (left <= limit) return 0;
  std::sort(files.begin(), files.end(), [&](const FoundFile& a, const FoundFile& b) {
    return last_use(a, now) < last_use(b, now);
  });
  std::uint64_t gone = 0;
  for (const FoundFile& file : files) {
    if (left <= goal) break;
    // A process that has the file open can still read it: unlink removes only the name.
    if (unlink(file.path.c_str()) != 0) continue;
    left -= file.bytes;
    ++gone;
  }
  counters_.evicted.fetch_add(gone);
  log().debug("{} entries of the kernel cache evicted", gone);
  return gone;
}

std::optional<Entry> Store::entry_at(const std::string& path) const {
  const Look found = look(path);
  return found.ignored.empty() && found.error == 0 ? decode(found.bytes) : std::nullopt;
}

std::vector<ListedEntry> Store::list() const {
  std::vector<ListedEntry> out;
  for (const FoundFile& file : find_files(options_.directory)) {
    if (file.temporary) continue;
    ListedEntry entry;
    entry.path = file.path;
    entry.bytes = file.bytes;
    entry.used = std::chrono::system_clock::from_time_t(file.modified);
    const Look found = look(file.path);
    entry.ignored = found.ignored;
    entry.key_text = peek_key_text(found.bytes, found.bytes.size()).value_or("");
    if (std::optional<Entry> whole = decode(found.bytes); whole && is_sound(*whole)) {
      entry.kind = whole->kind;
      entry.facts = std::move(whole->facts);
      const std::string name = ir::Hasher().bytes(entry.key_text).finish().hex();
      entry.intact = std::filesystem::path(file.path).stem() == name;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace heddle::runtime::cache
