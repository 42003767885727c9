#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/base/log.h"
#include "runtime/cache/files.h"
#include "runtime/cache/store.h"

// What looks at the whole directory: eviction and listings.

namespace heddle::runtime::cache {

namespace {

/// A writer's temporary file of this age was left by one that was killed.
constexpr std::int64_t orphan_seconds = 3600;

std::int64_t steady_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// True for one process in each interval: the one that renames the stamp of the last sweep away.
bool claim_sweep(const std::string& directory, std::chrono::seconds interval) {
  const std::string stamp = directory + "/sweep";
  struct stat status{};
  if (stat(stamp.c_str(), &status) != 0) {
    return publish_file(stamp, "") == 0 && interval.count() == 0;
  }
  // The stamp may lie ahead: a file server's clock is another, and this one may have been set back.
  if (std::abs(std::time(nullptr) - status.st_mtime) < interval.count()) return false;
  const std::string claimed = fmt::format("{}-{}", stamp, getpid());
  if (rename(stamp.c_str(), claimed.c_str()) != 0) return false;
  unlink(claimed.c_str());
  return publish_file(stamp, "") == 0;
}

}  // namespace

void Store::sweep_when_due() {
  std::int64_t due = next_sweep_.load();
  const std::int64_t now = steady_seconds();
  if (now < due ||
      !next_sweep_.compare_exchange_strong(due, now + options_.sweep_interval.count())) {
    return;
  }
  if (claim_sweep(options_.directory, options_.sweep_interval)) shrink(options_.size_limit);
}

std::uint64_t Store::shrink(std::uint64_t bytes) {
  std::vector<FoundFile> files = find_files(options_.directory);
  const std::int64_t now = std::time(nullptr);
  std::uint64_t total = 0;
  std::erase_if(files, [&](const FoundFile& file) {
    if (file.temporary) {
      if (now - file.modified > orphan_seconds) unlink(file.path.c_str());
      return true;
    }
    total += file.bytes;
    return false;
  });
  if (total <= bytes) return 0;
  // Somewhat below, so that the next write does not bring it here again.
  const std::uint64_t goal = bytes / 5 * 4;
  std::sort(files.begin(), files.end(),
            [](const FoundFile& a, const FoundFile& b) { return a.modified < b.modified; });
  std::uint64_t gone = 0;
  for (const FoundFile& file : files) {
    if (total <= goal) break;
    // Whoever has it open reads on: only the name goes.
    if (unlink(file.path.c_str()) != 0) continue;
    total -= file.bytes;
    ++gone;
  }
  counters_.evicted.fetch_add(gone);
  log().debug("{} entries of the kernel cache evicted", gone);
  return gone;
}

std::vector<ListedEntry> Store::list() const {
  std::vector<ListedEntry> out;
  for (const FoundFile& file : find_files(options_.directory)) {
    if (file.temporary) continue;
    ListedEntry entry;
    entry.path = file.path;
    entry.bytes = file.bytes;
    entry.used = std::chrono::system_clock::from_time_t(file.modified);
    std::string bytes;
    FileFacts facts;
    if (read_file(file.path, file.bytes, bytes, facts) == 0) {
      entry.key_text = peek_key_text(bytes, facts.bytes).value_or("");
      if (std::optional<Entry> whole = decode(bytes)) {
        entry.kind = whole->kind;
        entry.facts = std::move(whole->facts);
        const std::string name = ir::Hasher().bytes(entry.key_text).finish().hex();
        entry.intact = std::filesystem::path(file.path).stem() == name;
      }
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace heddle::runtime::cache
