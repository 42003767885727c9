#include "runtime/cache/store.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/cache/size_file.h"
#include "runtime/cache/trust.h"

namespace heddle::runtime::cache {

namespace {

/// Programs and modules are far smaller; a larger size means damage.
constexpr std::uint64_t largest_entry = std::uint64_t{1} << 30;

constexpr unsigned private_mode = 0600;

/// Users who may read files may also enter and list their folder.
unsigned folder_mode(unsigned file_mode) {
  const unsigned readers = file_mode & 0044U;
  return 0700U | readers | readers >> 2U;
}

std::int64_t now_seconds() { return std::time(nullptr); }

}  // namespace

Store::Store(StoreOptions options) : options_(std::move(options)) {}

Store& Store::global() {
  static constinit ir::LazyStatic<Store> store;
  return store.get([] { return Store(options_from_environment()); });
}

std::string Store::relative_path(const Key& key) const {
  const std::string hex = key.hash.hex();
  return fmt::format("/v{}/{}/{}{}", format_version, hex.substr(0, 2), hex, entry_suffix);
}

std::string Store::path_of(const Key& key) const { return options_.directory + relative_path(key); }

void Store::warn_once(const std::string& message) {
  if (!warned_.exchange(true)) log().warn("{}", message);
}

void Store::stop_writing(const std::string& what, int error) {
  writable_.store(false);
  warn_once(fmt::format(
      "compiled kernels are not cached on disk: {}: {}. Programs run, but compile again in every "
      "process. Set HEDDLE_CACHE_DIR to another folder, or HEDDLE_CACHE=0 to silence this warning.",
      what, std::strerror(error)));
}

/// Checks once how the directory can be used. The directory is created only when there is something
/// to write.
bool Store::prepare() {
  if (!options_.enabled) return false;
  if (options_.directory.empty()) {
    warn_once(
        "compiled kernels are not cached on disk: none of HEDDLE_CACHE_DIR, XDG_CACHE_HOME and "
        "HOME is set. Programs run, but compile again in every process.");
    return false;
  }
  const std::string why = why_untrusted(options_.directory);
  if (!why.empty()) {
    warn_once(
        fmt::format("the kernel cache {} is not used: {}. It contains code that would be executed. "
                    "Make yourself its owner with mode 0700, set HEDDLE_CACHE_DIR to another "
                    "folder, or set HEDDLE_CACHE_TRUST=1.",
                    options_.directory, why));
    return false;
  }
  writable_.store(true);
  return true;
}

/// Why other users may have put files into a directory; empty if the check does not apply or the
/// directory does not exist. The check is skipped with a signer: a signature is stronger evidence
/// than ownership.
std::string Store::why_untrusted(const std::string& directory) const {
  FileFacts facts;
  const bool is_asked = !options_.trust && options_.signer == nullptr;
  if (!is_asked || facts_of(directory, facts) != 0 || facts.regular) return {};
  return why_foreign(facts);
}

bool Store::usable() {
  std::call_once(prepared_, [&] { usable_.store(prepare()); });
  return usable_.load();
}

bool Store::read_only_usable() {
  std::call_once(read_only_prepared_, [&] {
    const std::string& directory = options_.read_only_directory;
    if (!options_.enabled || directory.empty()) return;
    const std::string why = why_untrusted(directory);
    read_only_usable_.store(why.empty());
    if (!why.empty()) ignore(directory, why, true);
  });
  return read_only_usable_.load();
}

void Store::ignore(const std::string& path, const std::string& why, bool is_told) {
  counters_.ignored.fetch_add(1);
  if (is_told && !warned_ignored_.exchange(true))
    log().warn("{} of the kernel cache is ignored: {}", path, why);
}

void Store::remove_bad(const std::string& path) {
  counters_.bad_entries.fetch_add(1);
  // Also removes an empty directory in place of the entry.
  if (unlink(path.c_str()) != 0 && (errno == EISDIR || errno == EPERM)) rmdir(path.c_str());
  if (!warned_bad_.exchange(true)) {
    log().warn("{} is damaged; it is deleted and rebuilt", path);
  }
}

Store::Look Store::look(const std::string& path) const {
  Look found;
  std::string file;
  // With a signing key, no unsigned content is inspected.
  const Plausible plausible = options_.signer == nullptr ? begins_as_entry : nullptr;
  found.error = read_file(path, largest_entry, file, found.facts, plausible);
  if (found.error == EACCES || found.error == EPERM)
    found.ignored = "it cannot be read: " + describe_error(path, found.error);
  if (found.error == ENOMEM) found.ignored = "out of memory";
  if (found.error != 0) return found;
  if (!options_.trust && options_.signer == nullptr && found.facts.regular) {
    const std::string why = why_foreign(found.facts);
    if (!why.empty()) {
      found.ignored = why +
                      "; change its owner to you or root and let nobody else write to it, or set "
                      "HEDDLE_CACHE_TRUST=1";
    }
  }
  const std::optional<std::string_view> content = opened(options_.signer, file);
  if (!content) {
    found.ignored = "it is not signed with HEDDLE_CACHE_KEY";
  } else {
    found.bytes = content->size() == file.size() ? std::move(file) : std::string(*content);
  }
  return found;
}

Store::Outcome Store::read(const std::string& path, const Key& key, bool own,
                           std::optional<Entry>& out) {
  const Look found = look(path);
  if (!found.ignored.empty()) {
    // If the own directory is not readable, it is unknown whether it holds the entry; the write
    // path reports that.
    ignore(path, found.ignored, !own || found.error == 0);
    return Outcome::miss;
  }
  if (found.error != 0) return Outcome::miss;
  out = found.facts.regular ? decode(found.bytes) : std::nullopt;
  if (!out) return Outcome::bad;
  if (out->key_text != key.text) {
    out.reset();
    return Outcome::miss;
  }
  counters_.bytes_read.fetch_add(found.facts.bytes);
  if (!own) return Outcome::hit;
  // A modification time in the future, from another machine's clock, would protect the entry from
  // eviction for ever.
  const std::int64_t age = now_seconds() - found.facts.modified;
  if (std::abs(age) >= options_.touch_interval.count()) touch(path);
  if (const unsigned mode = file_mode_.load(); (found.facts.mode & mode) != mode)
    make_readable(path);
  return Outcome::hit;
}

/// Applies the file mode to an entry, and the matching mode to its parent folders.
void Store::make_readable(const std::string& path) const {
  const unsigned mode = file_mode_.load();
  chmod(path.c_str(), mode);
  std::string folder = path;
  for (int depth = 0; depth < 3; ++depth) {
    folder.resize(folder.rfind('/'));
    FileFacts facts;
    const unsigned wanted = folder_mode(mode);
    if (facts_of(folder, facts) == 0 && (facts.mode & wanted) != wanted)
      chmod(folder.c_str(), facts.mode | wanted);
  }
}

std::optional<Entry> Store::load(const Key& key) {
  std::optional<Entry> out = find(key);
  (out ? counters_.hits : counters_.misses).fetch_add(1);
  return out;
}

std::optional<Entry> Store::load_instead(const Key& key) {
  std::optional<Entry> out = find(key);
  if (out) {
    counters_.hits.fetch_add(1);
    counters_.misses.fetch_sub(1);
  }
  return out;
}

bool Store::has(const Key& key) {
  std::error_code ignored;
  return usable() && std::filesystem::exists(path_of(key), ignored);
}

std::optional<Entry> Store::find(const Key& key) {
  std::optional<Entry> out;
  Outcome outcome = Outcome::miss;
  if (usable()) {
    outcome = read(path_of(key), key, true, out);
    if (outcome == Outcome::bad) remove_bad(path_of(key));
  }
  if (outcome != Outcome::hit && read_only_usable()) {
    outcome = read(options_.read_only_directory + relative_path(key), key, false, out);
  }
  if (outcome != Outcome::hit) out = load_from_bundles(key);
  return out;
}

std::optional<Entry> Store::load_from_bundles(const Key& key) {
  const std::shared_lock lock(bundles_mutex_);
  for (const auto& bundle : bundles_) {
    std::optional<Entry> entry = decode(bundle->find(key.hash));
    if (!entry || entry->key_text != key.text) continue;
    counters_.bytes_read.fetch_add(entry->payload.size());
    return entry;
  }
  return std::nullopt;
}

void Store::add_bundle(Bundle bundle) {
  auto added = std::make_unique<const Bundle>(std::move(bundle));
  const std::lock_guard lock(bundles_mutex_);
  // Loading a file again replaces its earlier bundle.
  std::erase_if(bundles_, [&](const auto& one) { return one->path() == added->path(); });
  bundles_.push_back(std::move(added));
}

/// Writes the file. Tries again if the folder did not exist or has been removed.
int Store::write(const std::string& path, std::string_view bytes) {
  const unsigned mode = file_mode_.load();
  const auto publish = [&] { return publish_file(path, bytes, {.mode = mode}); };
  int error = publish();
  if (error == ENOENT) {
    error = make_directories(path.substr(0, path.rfind('/')), folder_mode(mode));
    if (error == 0) error = publish();
  }
  if (error == 0 && mode != private_mode) make_readable(path);
  return error;
}

void Store::save(const Key& key, PayloadKind kind, std::string facts, std::string payload) {
  if (!usable() || !writable_.load()) return;
  const std::string bytes =
      sealed(options_.signer, encode({kind, key.text, std::move(facts), std::move(payload)}));
  const std::string path = path_of(key);
  make_directories(options_.directory, folder_mode(file_mode_.load()));  // for the size file
  // Held until the entry is written, so that no process counts the directory in between.
  const SizeFile size(options_.directory);
  if (!make_room(size, bytes.size())) {
    log().debug("{} is not written: its {} bytes exceed HEDDLE_CACHE_SIZE", path, bytes.size());
    return;
  }
  switch (const int error = write(path, bytes); error) {
    case 0:
      break;
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOSPC:
    case EDQUOT:
    case ENOENT:
    case ENOTDIR:
      stop_writing(options_.directory, error);
      return;
    default:
      // Possibly temporary: a busy or stale remote file, or a directory in place of the entry.
      log().debug("{} is not written: {}", path, std::strerror(error));
      return;
  }
  counters_.writes.fetch_add(1);
  counters_.bytes_written.fetch_add(bytes.size());
}

void Store::discard(const Key& key) {
  if (usable() && access(path_of(key).c_str(), F_OK) == 0) remove_bad(path_of(key));
}

Statistics Store::statistics() const {
  Statistics out;
  out.hits = counters_.hits.load();
  out.misses = counters_.misses.load();
  out.writes = counters_.writes.load();
  out.bytes_read = counters_.bytes_read.load();
  out.bytes_written = counters_.bytes_written.load();
  out.bad_entries = counters_.bad_entries.load();
  out.ignored = counters_.ignored.load();
  out.evicted = counters_.evicted.load();
  out.compiles = counters_.compiles.load();
  out.compile_milliseconds = static_cast<double>(counters_.compile_microseconds.load()) / 1e3;
  return out;
}

void Store::count_compile(double milliseconds) {
  counters_.compiles.fetch_add(1);
  counters_.compile_microseconds.fetch_add(static_cast<std::uint64_t>(milliseconds * 1e3));
}

}  // namespace heddle::runtime::cache
