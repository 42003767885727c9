#include "runtime/launch/recorded_call.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "ir/base/hash.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

void CallUses::note(const passes::BufferRef& buffer, std::byte* address) {
  const std::pair use(buffer, address);
  if (std::ranges::find(addresses_, use) == addresses_.end()) addresses_.push_back(use);
}

void CallUses::note(std::uint32_t input, const ir::ElementBits& scalar) {
  const std::pair use(input, scalar);
  if (std::ranges::find(scalars_, use) == scalars_.end()) scalars_.push_back(use);
}

bool CallUses::hold(const CallBuffers& frame) const {
  return std::ranges::all_of(
             addresses_, [&](const auto& use) { return frame.address(use.first) == use.second; }) &&
         std::ranges::all_of(
             scalars_, [&](const auto& use) { return frame.scalar(use.first) == use.second; });
}

std::uint64_t CallUses::hash(const CallBuffers& frame) const {
  ir::Hasher hasher;
  for (const auto& [buffer, address] : addresses_)
    hasher.number(reinterpret_cast<std::uint64_t>(frame.address(buffer)));
  for (const auto& [input, bits] : scalars_)
    hasher.number(frame.scalar(input).low).number(frame.scalar(input).high);
  return hasher.finish().low;
}

BufferRef CallScratch::take(std::size_t index, std::size_t bytes, const Label& label,
                            const Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (index >= pieces_.size()) pieces_.resize(index + 1);
  BufferRef& piece = pieces_[index];
  if (!piece || piece->bytes() < bytes) piece = runtime::allocate(bytes, stream, label);
  return piece;
}

std::shared_ptr<CallScratch> CallScratch::of(const Stream& stream) {
  static constinit ir::Mutex mutex;
  static auto* const all = new std::unordered_map<StreamState*, std::weak_ptr<CallScratch>>;
  const std::lock_guard lock(mutex);
  std::weak_ptr<CallScratch>& known = (*all)[stream.state()];
  std::shared_ptr<CallScratch> scratch = known.lock();
  if (!scratch) known = scratch = std::make_shared<CallScratch>();
  return scratch;
}

std::byte* RecordingBuffers::address(const passes::BufferRef& buffer) const {
  std::byte* const address = run_.address(buffer);
  uses_.note(buffer, address);
  return address;
}

const ir::ElementBits& RecordingBuffers::scalar(std::uint32_t input) const {
  const ir::ElementBits& bits = run_.scalar(input);
  uses_.note(input, bits);
  return bits;
}

BufferRef RecordingBuffers::allocate(std::size_t bytes, const Label& label) const {
  const auto free = std::ranges::find_if(lent_, &BufferRef::unique);
  const auto index = static_cast<std::size_t>(free - lent_.begin());
  if (free == lent_.end()) lent_.emplace_back();
  const BufferRef piece = scratch_.take(index, bytes, label, run_.stream());
  if (std::ranges::find(held_, piece) == held_.end()) held_.push_back(piece);
  return lent_[index] = borrow(piece->pointer(), bytes, run_.stream(), {});
}

void RecordingBuffers::run(const ActionList& list, ArgumentSlots& arguments,
                           const CallBuffers& at) const {
  kernels_ += static_cast<std::size_t>(
      std::ranges::count(list.actions(), Action::Kind::launch, &Action::kind));
  run_.run(list, arguments, at);
}

}  // namespace heddle::runtime
