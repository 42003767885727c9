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
#include "runtime/cache/files.h"
#include "runtime/cache/key.h"
#include "runtime/cache/signature.h"

/// The cache on disk: one file an entry, at <directory>/v1/<first byte>/<hash>.entry.
///
/// A problem with it is never the caller's error. Content that is not an entry is deleted and is a
/// miss; a file that cannot be read, that others may have written, or that the key has not signed
/// is a miss and stays; a directory that cannot be written means that nothing is kept there, and
/// one warning.
///
/// What is in entries is executed. So they are taken from this user and root only, or with a key
/// (HEDDLE_CACHE_KEY) from whoever has it.
namespace heddle::runtime::cache {

struct StoreOptions {
  bool enabled = true;
  std::string directory;            ///< empty: none is known
  std::string read_only_directory;  ///< searched second, never written; empty: none
  std::uint64_t size_limit = std::uint64_t{1} << 30;
  bool trust = false;              ///< also take directories and entries that others may write
  const Signer* signer = nullptr;  ///< signs what is written, and nothing else is taken; or null
  std::chrono::seconds sweep_interval{3600};  ///< after which the directory's size is added up anew
  std::chrono::seconds touch_interval{3600};
};

/// From HEDDLE_CACHE (0 is off), HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else
/// $HOME/.cache/heddle, HEDDLE_CACHE_READONLY, HEDDLE_CACHE_SIZE (bytes, or with K, M, G behind),
/// HEDDLE_CACHE_TRUST (1 is on) and HEDDLE_CACHE_KEY. Throws what Signer::global() throws.
StoreOptions options_from_environment();

struct Statistics {
  std::uint64_t hits = 0, misses = 0, writes = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::uint64_t bad_entries = 0;  ///< deleted because they were no entries
  std::uint64_t ignored = 0;      ///< not readable, not to be trusted, or not signed
  std::uint64_t evicted = 0;
  std::uint64_t compiles = 0;  ///< counted by those who compile
  double compile_milliseconds = 0;
};

class SizeFile;

struct ListedEntry {
  std::string path;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point used;  ///< to within the touch interval
  std::string key_text;                        ///< empty where the header is no entry's
  PayloadKind kind = PayloadKind::program;
  std::string facts;    ///< empty where the entry is damaged
  bool intact = false;  ///< what was written, in the place of its key; a program's payload is read
  std::string ignored;  ///< why it is not taken though it may be intact; empty where it is
};

/// Thread-safe; any number of processes may share a directory. Nothing here throws but bad_alloc,
/// global() and add_bundle.
class Store {
 public:
  explicit Store(StoreOptions options);
  /// The process's own, of options_from_environment(). Never destroyed.
  static Store& global();

  std::optional<Entry> load(const Key& key);
  /// After load() has found nothing: what another key that does as well has. A hit is one in place
  /// of that miss.
  std::optional<Entry> load_instead(const Key& key);
  void save(const Key& key, PayloadKind kind, std::string facts, std::string payload);
  /// From now on also what the bundle holds, after the directories.
  void add_bundle(Bundle bundle);
  /// Deletes an entry whose payload was refused when it was used: it counts as bad.
  void discard(const Key& key);

  /// From now on files are written so that others may read them, for a directory that is shipped:
  /// 0644, and folders 0755. What is there and is asked for becomes so too. 0600 at first.
  void set_file_mode(unsigned mode) { file_mode_.store(mode); }

  /// Where the entry is kept, whether it is there or not.
  std::string path_of(const Key& key) const;
  const StoreOptions& options() const { return options_; }

  Statistics statistics() const;
  void count_compile(double milliseconds);

  /// What is in the directory now, for tools.
  std::vector<ListedEntry> list() const;
  /// An entry of those; nullopt where load() would not take it.
  std::optional<Entry> entry_at(const std::string& path) const;
  /// For people: why an entry that is there is ignored, and in which fields, and how, the nearest
  /// entry of its kind in the directories and bundles differs from the key.
  std::string explain_miss(const Key& key);
  /// Deletes the entries that were used longest ago until at most `bytes` remain, and files that a
  /// killed writer left. Returns how many entries.
  std::uint64_t shrink(std::uint64_t bytes);

 private:
  enum class Outcome { hit, miss, bad };
  /// What a path holds.
  struct Look {
    int error = 0;  ///< errno's; 0 where it was read
    FileFacts facts;
    std::string bytes;    ///< of an entry, without a signature
    std::string ignored;  ///< why it is not taken
  };
  Look look(const std::string& path) const;
  std::string why_untrusted(const std::string& directory) const;
  std::optional<Entry> find(const Key& key);
  std::optional<Entry> load_from_bundles(const Key& key);
  Outcome read(const std::string& path, const Key& key, bool own, std::optional<Entry>& out);
  void make_readable(const std::string& path) const;
  std::string relative_path(const Key& key) const;
  std::string explain_ignored(const Key& key);
  bool usable();
  bool read_only_usable();
  bool prepare();
  bool make_room(const SizeFile& size, std::uint64_t bytes);
  int write(const std::string& path, std::string_view bytes);
  void stop_writing(const std::string& what, int error);
  void warn_once(const std::string& message);
  void ignore(const std::string& path, const std::string& why, bool is_told);
  void remove_bad(const std::string& path);
  std::uint64_t evict(std::uint64_t limit, std::uint64_t goal, std::uint64_t& left);

  struct Counters {
    std::atomic<std::uint64_t> hits{0}, misses{0}, writes{0}, bytes_read{0}, bytes_written{0},
        bad_entries{0}, ignored{0}, evicted{0}, compiles{0}, compile_microseconds{0};
  };

  StoreOptions options_;
  Counters counters_;
  ir::SharedMutex bundles_mutex_;
  std::vector<std::unique_ptr<const Bundle>> bundles_;
  std::once_flag prepared_, read_only_prepared_;
  std::atomic<bool> usable_{false};            ///< the directory may be read
  std::atomic<bool> read_only_usable_{false};  ///< so may the other one
  std::atomic<bool> writable_{false};          ///< and written
  std::atomic<bool> warned_{false}, warned_bad_{false}, warned_ignored_{false};
  std::atomic<unsigned> file_mode_{0600};
};

}  // namespace heddle::runtime::cache
