#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/cache/bundle.h"
#include "runtime/cache/entry.h"
#include "runtime/cache/key.h"

/// The cache on disk: one file an entry, at <directory>/v1/<first byte>/<hash>.entry.
///
/// A problem with it is never the caller's error. Content that is not an entry is deleted and is a
/// miss; a file that cannot be read is a miss and stays; a directory that cannot be written means
/// that nothing is kept there, and one warning.
namespace heddle::runtime::cache {

struct StoreOptions {
  bool enabled = true;
  std::string directory;            ///< empty: none is known
  std::string read_only_directory;  ///< searched second, never written; empty: none
  std::uint64_t size_limit = std::uint64_t{1} << 30;
  bool trust = false;  ///< also take a directory that others may write
  std::chrono::seconds sweep_interval{3600};
  std::chrono::seconds touch_interval{3600};
};

/// From HEDDLE_CACHE (0 is off), HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else
/// $HOME/.cache/heddle, HEDDLE_CACHE_READONLY, HEDDLE_CACHE_SIZE (bytes, or with K, M, G behind)
/// and HEDDLE_CACHE_TRUST (1 is on).
StoreOptions options_from_environment();

struct Statistics {
  std::uint64_t hits = 0, misses = 0, writes = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::uint64_t bad_entries = 0;  ///< deleted because they were no entries
  std::uint64_t evicted = 0;
  std::uint64_t compiles = 0;  ///< counted by those who compile
  double compile_milliseconds = 0;
};

struct ListedEntry {
  std::string path;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point used;  ///< to within the touch interval
  std::string key_text;                        ///< empty where the header is no entry's
  PayloadKind kind = PayloadKind::program;
  std::string facts;    ///< empty where the entry is damaged
  bool intact = false;  ///< what was written, in the place of its key
};

/// Thread-safe; any number of processes may share a directory. Nothing here throws but bad_alloc,
/// and add_bundle.
class Store {
 public:
  explicit Store(StoreOptions options);
  /// The process's own, of options_from_environment(). Never destroyed.
  static Store& global();

  std::optional<Entry> load(const Key& key);
  void save(const Key& key, PayloadKind kind, std::string facts, std::string payload);
  /// From now on also what the bundle holds, after the directories. Throws FileError.
  void add_bundle(const std::string& path);
  void add_bundle(Bundle bundle);
  /// Deletes an entry whose payload was refused when it was used: it counts as bad.
  void discard(const Key& key);

  /// Where the entry is kept, whether it is there or not.
  std::string path_of(const Key& key) const;
  const StoreOptions& options() const { return options_; }

  Statistics statistics() const;
  void count_compile(double milliseconds);

  /// What is in the directory now, for tools.
  std::vector<ListedEntry> list() const;
  /// For people: in which fields, and how, the nearest entry of its kind in the directories and
  /// bundles differs from the key.
  std::string explain_miss(const Key& key);
  /// Deletes the entries that were used longest ago until at most `bytes` remain, and files that a
  /// killed writer left. Returns how many entries.
  std::uint64_t shrink(std::uint64_t bytes);

 private:
  enum class Outcome { hit, miss, bad };
  std::optional<Entry> load_from_bundles(const Key& key);
  Outcome read(const std::string& path, const Key& key, bool own, std::optional<Entry>& out);
  std::string relative_path(const Key& key) const;
  bool usable();
  bool prepare();
  int write(const std::string& path, std::string_view bytes);
  void stop_writing(const std::string& what, int error);
  void warn_once(const std::string& message);
  void remove_bad(const std::string& path);
  void sweep_when_due();

  struct Counters {
    std::atomic<std::uint64_t> hits{0}, misses{0}, writes{0}, bytes_read{0}, bytes_written{0},
        bad_entries{0}, evicted{0}, compiles{0}, compile_microseconds{0};
  };

  StoreOptions options_;
  Counters counters_;
  ir::SharedMutex bundles_mutex_;
  std::vector<std::unique_ptr<const Bundle>> bundles_;
  std::once_flag prepared_;
  std::atomic<bool> usable_{false};    ///< the directory may be read
  std::atomic<bool> writable_{false};  ///< and written
  std::atomic<bool> warned_{false}, warned_bad_{false};
  std::atomic<std::int64_t> next_sweep_{0};  ///< seconds of the steady clock
};

}  // namespace heddle::runtime::cache
