#include <limits>
#include <shared_mutex>

#include <fmt/format.h>

#include "runtime/cache/difference.h"
#include "runtime/cache/files.h"
#include "runtime/cache/store.h"

// Explains why an entry is missing.

namespace heddle::runtime::cache {

namespace {

std::string kind_of(std::string_view key_text) {
  for (auto& [name, value] : parse_key(key_text)) {
    if (name == "kind") return value;
  }
  return "entry";
}

/// Finds the key that is nearest to a given key, among candidates of the same kind.
class Nearest {
 public:
  explicit Nearest(const Key& key) : key_(key), kind_(kind_of(key.text)) {}

  void show(const std::string& path, const std::string& key_text) {
    if (key_text.empty() || kind_of(key_text) != kind_) return;
    ++count_;
    std::vector<FieldDifference> found = differences(key_.text, key_text);
    const double far = distance(found);
    if (far >= least_) return;
    least_ = far;
    path_ = path;
    differences_ = std::move(found);
  }

  std::string text() const {
    if (count_ == 0) return fmt::format("there is no {} to compare with", kind_);
    if (differences_.empty()) return fmt::format("{} has exactly this key", path_);
    std::string fields;
    for (const FieldDifference& each : differences_)
      fields += (fields.empty() ? "" : ", ") + each.to_string();
    return fmt::format("the nearest {} (of {}), {}, differs in: {}", kind_, count_, path_, fields);
  }

 private:
  const Key& key_;
  std::string kind_, path_;
  std::size_t count_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<FieldDifference> differences_;
};

}  // namespace

/// Why the cache directories, or the key's own entry in them, are ignored; empty if they are used.
std::string Store::explain_ignored(const Key& key) {
  std::string text;
  if (!options_.enabled) return text;
  for (const std::string& directory : {options_.directory, options_.read_only_directory}) {
    if (directory.empty()) continue;
    std::string path = directory, why = why_untrusted(directory);
    if (why.empty()) {
      path += relative_path(key);
      why = look(path).ignored;
    }
    if (!why.empty()) text += fmt::format("{} is ignored: {}; ", path, why);
  }
  return text;
}

std::string Store::explain_miss(const Key& key) {
  Nearest nearest(key);
  if (options_.enabled) {
    for (const std::string& directory : {options_.directory, options_.read_only_directory}) {
      if (directory.empty()) continue;
      for (const FoundFile& file : find_files(directory)) {
        if (file.temporary) continue;
        const Look found = look(file.path);
        if (found.error == 0)
          nearest.show(file.path, peek_key_text(found.bytes, found.bytes.size()).value_or(""));
      }
    }
  }
  const std::shared_lock lock(bundles_mutex_);
  for (const auto& bundle : bundles_) {
    for (const std::string_view bytes : bundle->entries()) {
      nearest.show(bundle->path(), peek_key_text(bytes, bytes.size()).value_or(""));
    }
  }
  const std::string off = options_.enabled ? "" : "the cache on disk is off; ";
  return off + explain_ignored(key) + nearest.text();
}

}  // namespace heddle::runtime::cache
