#include "runtime/cache/store.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/cache/files.h"

namespace heddle::runtime::cache {

namespace {

/// No program or module comes near it; a size beyond is damage.
constexpr std::uint64_t largest_entry = std::uint64_t{1} << 30;

std::int64_t now_seconds() { return std::time(nullptr); }

}  // namespace

Store::Store(StoreOptions options) : options_(std::move(options)) {}

Store& Store::global() {
  static constinit ir::Lasting<Store> store;
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
      "compiled kernels are not kept on disk: {}: {}. Programs run, and compile again in every "
      "process; HEDDLE_CACHE_DIR names another folder, HEDDLE_CACHE=0 silences this.",
      what, std::strerror(error)));
}

/// Finds out once what may be done with the directory. It is made only when there is something to
/// write.
bool Store::prepare() {
  if (!options_.enabled) return false;
  if (options_.directory.empty()) {
    warn_once(
        "compiled kernels are not kept on disk: none of HEDDLE_CACHE_DIR, XDG_CACHE_HOME and HOME "
        "is set. Programs run, and compile again in every process.");
    return false;
  }
  writable_.store(true);
  const int error = options_.trust ? 0 : check_private(options_.directory);
  if (error == EPERM) {
    writable_.store(false);
    warn_once(fmt::format(
        "the kernel cache {} is not used: other users may write there, and what is in it is "
        "executed. Make it yours with mode 0700, name another folder in HEDDLE_CACHE_DIR, or set "
        "HEDDLE_CACHE_TRUST=1.",
        options_.directory));
    return false;
  }
  return true;
}

bool Store::usable() {
  std::call_once(prepared_, [&] { usable_.store(prepare()); });
  return usable_.load();
}

void Store::remove_bad(const std::string& path) {
  counters_.bad_entries.fetch_add(1);
  // A directory in an entry's place goes too, unless it holds something.
  if (unlink(path.c_str()) != 0 && (errno == EISDIR || errno == EPERM)) rmdir(path.c_str());
  if (!warned_bad_.exchange(true)) {
    log().warn("{} is damaged; it is deleted and built again", path);
  }
}

Store::Outcome Store::read(const std::string& path, const Key& key, bool own,
                           std::optional<Entry>& out) {
  std::string bytes;
  FileFacts facts;
  if (read_file(path, largest_entry, bytes, facts) != 0) return Outcome::miss;
  if (!options_.trust && facts.owner != geteuid() && facts.owner != 0) return Outcome::miss;
  out = facts.regular ? decode(bytes) : std::nullopt;
  if (!out) return Outcome::bad;
  if (out->key_text != key.text) {
    out.reset();
    return Outcome::miss;
  }
  counters_.bytes_read.fetch_add(bytes.size());
  if (own && now_seconds() - facts.modified >= options_.touch_interval.count()) touch(path);
  return Outcome::hit;
}

std::optional<Entry> Store::load(const Key& key) {
  std::optional<Entry> out;
  Outcome outcome = Outcome::miss;
  if (usable()) {
    outcome = read(path_of(key), key, true, out);
    if (outcome == Outcome::bad) remove_bad(path_of(key));
  }
  if (outcome != Outcome::hit && options_.enabled && !options_.read_only_directory.empty()) {
    outcome = read(options_.read_only_directory + relative_path(key), key, false, out);
  }
  if (outcome != Outcome::hit) out = load_from_bundles(key);
  (out ? counters_.hits : counters_.misses).fetch_add(1);
  return out;
}

std::optional<Entry> Store::load_from_bundles(const Key& key) {
  const std::shared_lock lock(bundles_mutex_);
  for (const auto& bundle : bundles_) {
    std::optional<Entry> entry = decode(bundle->find(key.hash));
    if (entry && entry->key_text == key.text) return entry;
  }
  return std::nullopt;
}

void Store::add_bundle(const std::string& path) { add_bundle(Bundle(path)); }

void Store::add_bundle(Bundle bundle) {
  auto added = std::make_unique<const Bundle>(std::move(bundle));
  const std::lock_guard lock(bundles_mutex_);
  // A file that is loaded again is there once, as it is now.
  std::erase_if(bundles_, [&](const auto& one) { return one->path() == added->path(); });
  bundles_.push_back(std::move(added));
}

/// Once more where the folder was missing, or was removed since.
int Store::write(const std::string& path, std::string_view bytes) {
  int error = publish_file(path, bytes);
  if (error == ENOENT) {
    error = make_directories(path.substr(0, path.rfind('/')));
    if (error == 0) error = publish_file(path, bytes);
  }
  return error;
}

void Store::save(const Key& key, PayloadKind kind, std::string facts, std::string payload) {
  if (!usable() || !writable_.load()) return;
  const std::string bytes = encode({kind, key.text, std::move(facts), std::move(payload)});
  const std::string path = path_of(key);
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
      // What may pass: a busy or stale remote file, a directory in the entry's place.
      log().debug("{} is not written: {}", path, std::strerror(error));
      return;
  }
  counters_.writes.fetch_add(1);
  counters_.bytes_written.fetch_add(bytes.size());
  sweep_when_due();
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
