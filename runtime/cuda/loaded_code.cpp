#include "runtime/cuda/loaded_code.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ir/base/fork_gate.h"
#include "ir/base/hash.h"
#include "runtime/cache/key.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/raw_image.h"
#include "runtime/launch/load_module.h"

namespace heddle::runtime::cuda {

namespace {

using Code = std::shared_ptr<const LoadedCode>;

/// The codes that were used last, the latest first. Thread-safe.
class RecentCodes {
 public:
  /// Null if there is none.
  Code find(const ir::Hash128& hash, int ordinal) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(
        codes_, [&](const Entry& each) { return each.hash == hash && each.ordinal == ordinal; });
    if (found == codes_.end()) return nullptr;
    std::rotate(codes_.begin(), found, found + 1);
    return codes_.front().code;
  }
  void add(const ir::Hash128& hash, int ordinal, Code code) {
    Code dropped;  // unloaded after the lock is released, because that waits for the device
    const std::lock_guard lock(mutex_);
    codes_.insert(codes_.begin(), {hash, ordinal, std::move(code)});
    if (codes_.size() <= most) return;
    dropped = std::move(codes_.back().code);
    codes_.pop_back();
  }

 private:
  struct Entry {
    ir::Hash128 hash;
    int ordinal;
    Code code;
  };
  static constexpr std::size_t most = 64;
  ir::Mutex mutex_;
  std::vector<Entry> codes_;
};

RecentCodes& recent_codes() {
  static auto* const instance = new RecentCodes;
  return *instance;
}

Code loaded(RawImage image, int ordinal) {
  auto code = std::make_shared<LoadedCode>();
  code->module = load_module<CudaModule>(image.module, ordinal);
  code->symbols = std::move(image.symbols);
  return code;
}

/// If the driver rejects code from the cache, it is compiled again, once. The entry is deleted only
/// if it is damaged: other machines may share the cache.
Code load(const RawSource& source, const ir::Target& target, const std::optional<cache::Key>& key,
          int ordinal) {
  try {
    return loaded(make_raw_image(source, target, key), ordinal);
  } catch (const LoadFailure& failure) {
    if (!key || failure.module.built || compiling_is_forbidden()) throw;
    if (failure.damaged) cache::Store::global().discard(*key);
    return loaded(compile_raw_image(source, target, key), ordinal);
  }
}

}  // namespace

std::shared_ptr<const LoadedCode> loaded_code(const RawSource& source, int ordinal) {
  const ir::Target& target = target_of(ordinal);
  const std::optional<cache::Key> key = raw_key(source, target);
  if (!key) return load(source, target, key, ordinal);
  if (Code known = recent_codes().find(key->hash, ordinal)) return known;
  Code code = load(source, target, key, ordinal);
  recent_codes().add(key->hash, ordinal, code);
  return code;
}

}  // namespace heddle::runtime::cuda
