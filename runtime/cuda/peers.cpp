#include "runtime/cuda/peers.h"

#include <map>
#include <mutex>
#include <utility>

#include "ir/base/fork_gate.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/driver.h"

namespace heddle::runtime::cuda {

namespace {

/// Whether a GPU may use the memory of another, by the numbers of both.
struct Pairs {
  ir::Mutex mutex;
  std::map<std::pair<int, int>, bool> known;
};
Pairs& pairs() {
  static auto* const instance = new Pairs;
  return *instance;
}

DeviceHandle handle_of(int ordinal) {
  DeviceHandle handle = 0;
  driver().device_get(&handle, ordinal);
  return handle;
}

bool ask_for_access(int ordinal, int peer) {
  if (!can_access(ordinal, peer)) return false;
  const ContextHandle context = primary_context(peer);
  const ContextScope scope(ordinal);
  const Result result = driver().ctx_enable_peer_access.attempt(context, 0);
  if (result == Result::peer_access_unsupported || result == Result::too_many_peers) return false;
  // Another library may have enabled it.
  if (result != Result::peer_access_already_enabled) check(result, "cuCtxEnablePeerAccess");
  return true;
}

}  // namespace

bool can_access(int ordinal, int peer) {
  int can = 0;
  driver().device_can_access_peer(&can, handle_of(ordinal), handle_of(peer));
  return can != 0;
}

bool enable_access(int ordinal, int peer) {
  if (ordinal == peer) return true;
  Pairs& own = pairs();
  const std::lock_guard lock(own.mutex);
  const auto known = own.known.find({ordinal, peer});
  if (known != own.known.end()) return known->second;
  return own.known[{ordinal, peer}] = ask_for_access(ordinal, peer);
}

void disable_access(int ordinal, int peer) {
  if (ordinal == peer) return;
  Pairs& own = pairs();
  const std::lock_guard lock(own.mutex);
  const auto known = own.known.find({ordinal, peer});
  if (known == own.known.end() || !known->second) return;
  const ContextHandle context = primary_context(peer);
  const ContextScope scope(ordinal);
  const Result result = driver().ctx_disable_peer_access.attempt(context);
  if (result != Result::peer_access_not_enabled) check(result, "cuCtxDisablePeerAccess");
  own.known.erase(known);
}

}  // namespace heddle::runtime::cuda
