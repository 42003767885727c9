#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <thread>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/per_thread.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/libraries/nccl_library.h"

namespace heddle::runtime::nccl {

namespace {

using Clock = std::chrono::steady_clock;
using ir::CollectiveKind;

/// The dtypes in which NCCL reduces, and what it calls them.
std::optional<Type> type_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return Type::i8;
    case DType::u8:
      return Type::u8;
    case DType::i32:
      return Type::i32;
    case DType::u32:
      return Type::u32;
    case DType::i64:
      return Type::i64;
    case DType::u64:
      return Type::u64;
    case DType::f16:
      return Type::f16;
    case DType::bf16:
      return Type::bf16;
    case DType::f32:
    case DType::c64:
      return Type::f32;
    case DType::f64:
    case DType::c128:
      return Type::f64;
    case DType::boolean:
    case DType::i16:
    case DType::u16:
      break;
  }
  return std::nullopt;
}

/// Longer each time, up to a millisecond.
class Patience {
 public:
  void wait() {
    std::this_thread::sleep_for(next_);
    next_ = std::min(next_ * 2, std::chrono::microseconds(1000));
  }

 private:
  std::chrono::microseconds next_{10};
};

class NcclCommunicator final : public Communicator {
 public:
  explicit NcclCommunicator(const Membership& membership)
      : Communicator(membership.name, membership.size, membership.rank, membership.device),
        timeout_(std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(membership.timeout))) {
    const cuda::ContextScope context(device().ordinal);
    Config config;
    config.blocking = 0;
    nccl::check(
        api().ncclCommInitRankConfig(&comm_, size(), membership.id, rank(), &config),
        fmt::format("joining the communicator '{}' as rank {} of {}", name(), rank(), size()),
        nullptr);
  }

  ~NcclCommunicator() override {
    // At exit the driver may already be unloaded.
    if (comm_ == nullptr || cuda::unusable()) return;
    try {
      const cuda::ContextScope context(device().ordinal);
      for (Patience patience; !first_is_done();) patience.wait();
      if (comm_ != nullptr) api().ncclCommDestroy(comm_);
    } catch (const Error&) {
      // A failed communicator has been aborted.
    }
  }

  bool reduces(DType dtype) const override { return type_of(dtype).has_value(); }

  void enqueue(const Exchange& exchange, const Stream& stream) override;
  /// Waits until NCCL has accepted what this communicator was given, and notes it.
  void finish(const std::string& what);
  void settle() override {
    for (Patience patience; !is_settled(); patience.wait()) check_interrupt();
  }
  void abort() override {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return;
    const bool ended = !pending_.empty();
    fail(fmt::format("the communicator '{}' was aborted", name()), false);
    raised_ = !ended;  // a wait need not say so if nothing was lost
  }
  void check() override {
    const std::lock_guard lock(mutex_);
    raise_always();
    Status error = Status::success;
    api().ncclCommGetAsyncError(comm_, &error);
    if (error != Status::success && error != Status::in_progress)
      fail(fmt::format("the communicator '{}': {}", name(), describe(error, comm_)), true);
  }

 private:
  struct Pending {
    Event done;
    Clock::time_point deadline;
    std::string what;
  };

  bool is_accepted(const std::string& what, Clock::time_point deadline);
  Status start(const Exchange& exchange, cuda::StreamHandle stream);
  Status start_many(const Exchange& exchange, cuda::StreamHandle stream);

  void raise_always() const {
    if (!failure_.empty()) throw CommunicationError(failure_);
  }
  /// Throws a failure once, at a wait. Every use of the communicator throws it.
  void raise() {
    if (failure_.empty() || raised_) return;
    raised_ = true;
    throw CommunicationError(failure_);
  }
  /// Ends the communicator. `now`: throws the failure as well.
  void fail(std::string why, bool now) {
    failure_ = std::move(why);
    const cuda::ContextScope context(device().ordinal);
    if (comm_ != nullptr) api().ncclCommAbort(std::exchange(comm_, nullptr));
    pending_.clear();
    raised_ = now;
    if (now) throw CommunicationError(failure_);
  }
  /// NCCL's state. Fails unless it is success or in_progress.
  Status progress(const std::string& what) {
    Status state = Status::success;
    api().ncclCommGetAsyncError(comm_, &state);
    if (state != Status::success && state != Status::in_progress) {
      fail(fmt::format("{} by the communicator '{}' failed: {}", what, name(),
                       describe(state, comm_)),
           true);
    }
    return state;
  }
  void require_time(const std::string& what, Clock::time_point deadline) {
    if (Clock::now() < deadline) return;
    fail(fmt::format("{} by the communicator '{}', rank {} of {}, was not done within {} s; a "
                     "process has ended, or does not make the same exchanges in the same order",
                     what, name(), rank(), size(), std::chrono::duration<double>(timeout_).count()),
         true);
  }
  /// Removes exchanges that are done. Whether none is left.
  bool first_is_done() {
    while (!pending_.empty() && pending_.front().done.done()) pending_.pop_front();
    if (pending_.empty()) return true;
    const std::string what = pending_.front().what;  // which a failure removes
    progress(what);
    require_time(what, pending_.front().deadline);
    return false;
  }
  /// Whether nothing is left that this thread has enqueued. Throws a failure.
  bool is_settled() {
    // Another thread's communicator may be waiting for an exchange of this thread.
    if (pthread_equal(thread_.load(), pthread_self()) == 0) return true;
    const std::lock_guard lock(mutex_);
    const bool done = pending_.empty() || first_is_done();
    raise();
    return done;
  }

  ir::Mutex order_;  ///< of exchanges: held until NCCL has accepted one
  ir::Mutex mutex_;  ///< guards what follows; never held in a wait
  const Clock::duration timeout_;
  Comm* comm_ = nullptr;  ///< null once it has failed
  std::string failure_;
  bool raised_ = false;
  std::deque<Pending> pending_;
  std::optional<Stream> stream_;                    ///< of the last exchange
  std::atomic<pthread_t> thread_ = pthread_self();  ///< that used it last
};

/// The communicators that this thread's open groups use, and for what.
struct OpenGroup {
  int depth = 0;
  std::vector<std::pair<std::shared_ptr<NcclCommunicator>, std::string>> joined;
  std::vector<std::pair<NcclCommunicator*, std::string>> used;
};
OpenGroup& open_group() { return per_thread<OpenGroup>(); }

void NcclCommunicator::finish(const std::string& what) {
  const Clock::time_point deadline = Clock::now() + timeout_;
  for (Patience patience; !is_accepted(what, deadline); patience.wait()) check_interrupt();
}

bool NcclCommunicator::is_accepted(const std::string& what, Clock::time_point deadline) {
  const std::lock_guard lock(mutex_);
  raise_always();
  if (progress(what) == Status::in_progress) {
    require_time(what, deadline);
    return false;
  }
  if (!stream_) return true;
  const cuda::ContextScope context(device().ordinal);
  while (!pending_.empty() && pending_.front().done.done()) pending_.pop_front();
  pending_.push_back({Event(*stream_), deadline, what});
  return true;
}

void NcclCommunicator::enqueue(const Exchange& exchange, const Stream& stream) {
  const std::string what(ir::name_of(exchange.kind));
  if (stream.capturing()) {
    throw DeviceError(
        fmt::format("{} cannot be captured into a CUDA graph; call it between graphs", what));
  }
  const std::lock_guard order(order_);
  {
    const std::lock_guard lock(mutex_);
    raise_always();
    thread_ = pthread_self();
    const cuda::ContextScope context(device().ordinal);
    if (stream_ && !(*stream_ == stream)) stream.wait(Event(*stream_));
    stream_ = stream;
    nccl::check(start(exchange, stream.handle()), what, comm_);
  }
  if (open_group().depth > 0)
    open_group().used.emplace_back(this, what);
  else
    finish(what);
}

Status NcclCommunicator::start(const Exchange& exchange, cuda::StreamHandle stream) {
  const bool reduced = exchange.kind == CollectiveKind::all_reduce ||
                       exchange.kind == CollectiveKind::reduce ||
                       exchange.kind == CollectiveKind::reduce_scatter;
  if (!reduced) {
    const std::size_t bytes = exchange.count * size_of(exchange.dtype);
    if (exchange.kind == CollectiveKind::broadcast) {
      return api().ncclBroadcast(exchange.from, exchange.to, bytes, Type::u8, exchange.root, comm_,
                                 stream);
    }
    if (exchange.kind == CollectiveKind::all_gather)
      return api().ncclAllGather(exchange.from, exchange.to, bytes, Type::u8, comm_, stream);
    return start_many(exchange, stream);
  }
  const std::optional<Type> type = type_of(exchange.dtype);
  if (!type) throw InternalError("NCCL does not reduce elements of this dtype");
  const std::size_t count = exchange.count * (is_complex(exchange.dtype) ? 2 : 1);
  const void* const from = exchange.from;
  void* const to = exchange.to;
  if (exchange.kind == CollectiveKind::all_reduce)
    return api().ncclAllReduce(from, to, count, *type, exchange.operation, comm_, stream);
  if (exchange.kind == CollectiveKind::reduce)
    return api().ncclReduce(from, to, count, *type, exchange.operation, exchange.root, comm_,
                            stream);
  return api().ncclReduceScatter(from, to, count, *type, exchange.operation, comm_, stream);
}

/// What consists of sends and receives.
Status NcclCommunicator::start_many(const Exchange& exchange, cuda::StreamHandle stream) {
  const std::size_t bytes = exchange.count * size_of(exchange.dtype);
  const auto* const from = static_cast<const std::byte*>(exchange.from);
  auto* const to = static_cast<std::byte*>(exchange.to);
  Status failed = Status::success;
  const auto keep = [&](Status status) {
    if (status != Status::success && status != Status::in_progress) failed = status;
  };
  const auto send = [&](const std::byte* part, int peer) {
    keep(api().ncclSend(part, bytes, Type::u8, peer, comm_, stream));
  };
  const auto receive = [&](std::byte* part, int peer) {
    keep(api().ncclRecv(part, bytes, Type::u8, peer, comm_, stream));
  };
  const bool is_root = rank() == exchange.root;
  keep(api().ncclGroupStart());
  switch (exchange.kind) {
    case CollectiveKind::gather:
      send(from, exchange.root);
      for (int peer = 0; is_root && peer < size(); ++peer)
        receive(to + static_cast<std::size_t>(peer) * bytes, peer);
      break;
    case CollectiveKind::scatter:
      for (int peer = 0; is_root && peer < size(); ++peer)
        send(from + static_cast<std::size_t>(peer) * bytes, peer);
      receive(to, exchange.root);
      break;
    case CollectiveKind::all_to_all:
      for (int peer = 0; peer < size(); ++peer) {
        send(from + static_cast<std::size_t>(peer) * bytes, peer);
        receive(to + static_cast<std::size_t>(peer) * bytes, peer);
      }
      break;
    default:
      if (exchange.send_to >= 0) send(from, exchange.send_to);
      if (exchange.receive_from >= 0) receive(to, exchange.receive_from);
  }
  keep(api().ncclGroupEnd());
  return failed;
}

}  // namespace

std::shared_ptr<Communicator> join(const Membership& membership) {
  auto made = std::make_shared<NcclCommunicator>(membership);
  const std::string what = "creation";
  if (open_group().depth > 0)
    open_group().joined.emplace_back(made, what);
  else
    made->finish(what);
  register_communicator(made);
  return made;
}

void begin_group() {
  check(api().ncclGroupStart(), "ncclGroupStart", nullptr);
  ++open_group().depth;
}

void end_group() {
  OpenGroup& group = open_group();
  if (group.depth == 0) throw ValueError("groupEnd: no group of this thread is open");
  const Status status = api().ncclGroupEnd();
  if (--group.depth > 0) return check(status, "ncclGroupEnd", nullptr);
  const auto joined = std::exchange(group.joined, {});
  const auto used = std::exchange(group.used, {});
  check(status, "ncclGroupEnd", nullptr);
  for (const auto& [communicator, what] : joined) communicator->finish(what);
  for (const auto& [communicator, what] : used) communicator->finish(what);
}

bool in_group() { return open_group().depth > 0; }

}  // namespace heddle::runtime::nccl
