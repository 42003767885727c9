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

/// The cache on disk: one file per entry, at <directory>/v1/<first byte>/<hash>.entry.
///
/// Problems with the cache never cause an error in the caller. A file that is not a valid entry is
/// a miss and is deleted. A file that cannot be read, that others may have written, or that is not
/// signed with the key is a miss and stays. If the directory cannot be written, nothing is stored,
/// and one warning is given.
///
/// The content of entries is executed. So entries are accepted only from this user and root or,
/// with a key (HEDDLE_CACHE_KEY), from everyone who has the key.
namespace heddle::runtime::cache {

struct StoreOptions {
  bool enabled = true;
  std::string directory;            ///< empty: none
  std::string read_only_directory;  ///< searched second, never written; empty: none
  std::uint64_t size_limit = std::uint64_t{1} << 30;
  bool trust = false;              ///< also accept directories and entries that others may write
  const Signer* signer = nullptr;  ///< signs what is written, and only files that it has signed are
                                   ///< accepted; null: no signatures
  std::chrono::seconds sweep_interval{3600};  ///< the directory's size is counted anew after this
                                              ///< time
  std::chrono::seconds touch_interval{3600};
};

/// From HEDDLE_CACHE (0 disables the cache); HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else
/// $HOME/.cache/heddle; HEDDLE_CACHE_READONLY; HEDDLE_CACHE_SIZE (bytes, or with a suffix K, M or
/// G); HEDDLE_CACHE_TRUST (1 enables it); and HEDDLE_CACHE_KEY. Throws what Signer::global()
/// throws.
StoreOptions options_from_environment();

struct Statistics {
  std::uint64_t hits = 0, misses = 0, writes = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;
  std::uint64_t bad_entries = 0;  ///< deleted because they were not valid entries
  std::uint64_t ignored = 0;      ///< unreadable, untrusted or not signed
  std::uint64_t evicted = 0;
  std::uint64_t compiles = 0;  ///< counted by the compilers' callers
  double compile_milliseconds = 0;
};

class SizeFile;

struct ListedEntry {
  std::string path;
  std::uint64_t bytes = 0;
  std::chrono::system_clock::time_point used;  ///< accurate to the touch interval
  std::string key_text;                        ///< empty if the header is not valid
  PayloadKind kind = PayloadKind::program;
  std::string facts;    ///< empty if the entry is damaged
  bool intact = false;  ///< valid, and stored under its own key; for a program, the payload can be
                        ///< decoded
  std::string ignored;  ///< why load() ignores it even if it is intact; empty if load() accepts it
};

/// Thread-safe; any number of processes may share a directory. Functions throw only bad_alloc,
/// except global() and add_bundle.
class Store {
 public:
  explicit Store(StoreOptions options);
  /// The process-wide store, with options_from_environment(). Never destroyed.
  static Store& global();

  std::optional<Entry> load(const Key& key);
  /// Looks up an alternative key after load() has found nothing. A hit is counted in place of that
  /// miss.
  std::optional<Entry> load_instead(const Key& key);
  /// Whether the directory has an entry for the key. It is not read, and nothing is counted.
  bool has(const Key& key);
  void save(const Key& key, PayloadKind kind, std::string facts, std::string payload);
  /// Adds a bundle, which is searched after the directories.
  void add_bundle(Bundle bundle);
  /// Deletes an entry whose payload was rejected by its user. It is counted as bad.
  void discard(const Key& key);

  /// Sets the mode of files written from now on, for a directory that is shipped: with 0644, others
  /// may read files, and folders get 0755. Existing entries get the mode when they are loaded.
  /// Initially 0600.
  void set_file_mode(unsigned mode) { file_mode_.store(mode); }

  /// The path of the key's entry, whether or not it exists.
  std::string path_of(const Key& key) const;
  const StoreOptions& options() const { return options_; }

  Statistics statistics() const;
  void count_compile(double milliseconds);

  /// The entries now in the directory, for tools.
  std::vector<ListedEntry> list() const;
  /// An entry from that list; nullopt if load() would not accept it.
  std::optional<Entry> entry_at(const std::string& path) const;
  /// For messages: why an existing entry is ignored, and how the nearest entry of the same kind, in
  /// the directories and bundles, differs from the key, field by field.
  std::string explain_miss(const Key& key);
  /// Deletes the least recently used entries until at most `bytes` remain, and temporary files left
  /// by killed writers. Returns the number of entries deleted.
  std::uint64_t shrink(std::uint64_t bytes);

 private:
  enum class Outcome { hit, miss, bad };
  /// The result of reading a path.
  struct Look {
    int error = 0;  ///< errno; 0 on success
    FileFacts facts;
    std::string bytes;    ///< of the entry, without the signature
    std::string ignored;  ///< why it is not accepted
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
  std::atomic<bool> read_only_usable_{false};  ///< the read-only directory may be read
  std::atomic<bool> writable_{false};          ///< the directory may be written
  std::atomic<bool> warned_{false}, warned_bad_{false}, warned_ignored_{false};
  std::atomic<unsigned> file_mode_{0600};
};

}  // namespace heddle::runtime::cache
