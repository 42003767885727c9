// An NCCL that is a program of its own: exchanges among threads and processes of one machine, by
// shared memory that is named after the group's number. Each call first waits for its stream, then
// a thread of its own makes the exchange, so that all calls return at once as those of a
// non-blocking communicator do. HEDDLE_FAKE_NCCL_FAIL=N makes exchange N of each communicator fail
// on this process, counted from 0.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/runtime/fake_libraries/nccl_board.h"
#include "tests/runtime/fake_libraries/stream_order.h"

namespace {

using namespace fake_nccl;

struct Id {
  std::array<char, 128> bytes;
};

struct Communicator {
  int size = 1, rank = 0;
  std::shared_ptr<Board> board;
  std::atomic<int> running{0};  ///< threads that make its exchanges
  std::atomic<int> error{success};
  std::atomic<bool> aborted{false};
  int exchanges = 0;
};
using Shared = std::shared_ptr<Communicator>;

/// Communicators by their handles.
std::map<Communicator*, Shared>& communicators() {
  static auto& all = *new std::map<Communicator*, Shared>;
  return all;
}
std::mutex communicators_mutex;

Shared find(Communicator* handle) {
  const std::lock_guard lock(communicators_mutex);
  const auto found = communicators().find(handle);
  return found == communicators().end() ? nullptr : found->second;
}

/// A call within a group. Calls in one queue are made one after the other.
struct Queued {
  Shared communicator;
  std::string queue;
  void* stream;
  std::function<int(Communicator&)> work;
};
thread_local std::vector<Queued> group;
thread_local int depth = 0;

int run_group() {
  std::vector<Queued> calls = std::exchange(group, {});
  std::map<std::pair<Communicator*, std::string>, std::vector<Queued>> queues;
  for (Queued& call : calls) {
    if (call.stream != reinterpret_cast<void*>(-1)) finish_before(call.stream);
    queues[{call.communicator.get(), call.queue}].push_back(std::move(call));
  }
  for (auto& [key, queue] : queues) {
    ++queue.front().communicator->running;
    std::thread([queue = std::move(queue)] {
      Communicator& of = *queue.front().communicator;
      for (const Queued& call : queue) {
        if (of.error != success) break;
        const int result = call.work(of);
        if (result != success && !of.aborted) of.error = result;
      }
      --of.running;
    }).detach();
  }
  return calls.empty() ? success : in_progress;
}

int submit(Communicator* handle, const std::string& queue, void* stream,
           std::function<int(Communicator&)> work) {
  Shared communicator = find(handle);
  if (communicator == nullptr) return invalid_argument;
  const char* const fails = std::getenv("HEDDLE_FAKE_NCCL_FAIL");
  if (stream != reinterpret_cast<void*>(-1) && fails != nullptr &&
      communicator->exchanges++ == std::atoi(fails))
    work = [](Communicator&) { return remote_error; };
  group.push_back({std::move(communicator), queue, stream, std::move(work)});
  return depth > 0 ? success : run_group();
}

/// Makes a collective: `sent` bytes go to all, and take(rank, offset, bytes, count) gets what each
/// rank has sent, in chunks.
int collective(Communicator* handle, void* stream, Header header, const void* from,
               std::size_t sent,
               std::function<void(int, std::size_t, const char*, std::size_t)> take) {
  return submit(handle, "all", stream,
                [header, from, sent, take = std::move(take)](Communicator& of) {
                  const auto stopped = [&of] { return of.aborted.load(); };
                  return of.board->exchange(of.rank, header, static_cast<const char*>(from), sent,
                                            take, stopped);
                });
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) { return *version = 22899, success; }

int ncclGetUniqueId(Id* id) {
  std::random_device random;
  id->bytes.fill(0);
  const std::string text = std::to_string(getpid()) + "-" + std::to_string(random());
  return std::memcpy(id->bytes.data(), text.data(), text.size()), success;
}

const char* ncclGetErrorString(int status) {
  return status == remote_error ? "a process of the group failed" : "the fake library says so";
}
const char* ncclGetLastError(Communicator*) { return ""; }

int ncclCommInitRankConfig(Communicator** handle, int size, Id id, int rank, const void*) {
  auto made = std::make_shared<Communicator>();
  made->size = size;
  made->rank = rank;
  made->board = Board::open(id.bytes.data(), size);
  if (made->board == nullptr) return invalid_argument;
  *handle = made.get();
  {
    const std::lock_guard lock(communicators_mutex);
    communicators()[made.get()] = made;
  }
  return submit(made.get(), "all", reinterpret_cast<void*>(-1), [](Communicator& of) {
    return of.board->join(of.rank, [&of] { return of.aborted.load(); });
  });
}

int ncclCommGetAsyncError(Communicator* handle, int* error) {
  const Shared of = find(handle);
  if (of == nullptr) return invalid_argument;
  *error = of->error != success ? of->error.load() : of->running > 0 ? in_progress : success;
  return success;
}

int ncclCommAbort(Communicator* handle) {
  const Shared of = find(handle);
  if (of == nullptr) return invalid_argument;
  of->aborted = true;
  const std::lock_guard lock(communicators_mutex);
  communicators().erase(handle);
  return success;
}
int ncclCommDestroy(Communicator* handle) { return ncclCommAbort(handle); }

int ncclGroupStart() { return ++depth, success; }
int ncclGroupEnd() { return --depth > 0 ? success : run_group(); }

int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation,
                  Communicator* handle, void* stream) {
  return collective(handle, stream, {1, count, type, operation, 0}, from, count * bytes_of(type),
                    [=](int rank, std::size_t offset, const char* part, std::size_t bytes) {
                      reduce(static_cast<char*>(to) + offset, part, bytes, type, operation,
                             rank == 0);
                    });
}

int ncclReduce(const void* from, void* to, std::size_t count, int type, int operation, int root,
               Communicator* handle, void* stream) {
  const Shared of = find(handle);
  const bool is_root = of != nullptr && of->rank == root;
  return collective(handle, stream, {2, count, type, operation, root}, from, count * bytes_of(type),
                    [=](int rank, std::size_t offset, const char* part, std::size_t bytes) {
                      if (!is_root) return;
                      reduce(static_cast<char*>(to) + offset, part, bytes, type, operation,
                             rank == 0);
                    });
}

int ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root,
                  Communicator* handle, void* stream) {
  const Shared of = find(handle);
  // Only the root's memory need be there.
  const void* const sent = of != nullptr && of->rank == root ? from : to;
  return collective(handle, stream, {3, count, type, 0, root}, sent, count * bytes_of(type),
                    [=](int rank, std::size_t offset, const char* part, std::size_t bytes) {
                      if (rank == root) std::memcpy(static_cast<char*>(to) + offset, part, bytes);
                    });
}

int ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int operation,
                      Communicator* handle, void* stream) {
  const Shared of = find(handle);
  if (of == nullptr) return invalid_argument;
  const std::size_t block = count * bytes_of(type), begin = block * of->rank;
  return collective(handle, stream, {4, count, type, operation, 0}, from, block * of->size,
                    [=](int rank, std::size_t offset, const char* part, std::size_t bytes) {
                      const std::size_t first = std::max(begin, offset);
                      const std::size_t last = std::min(begin + block, offset + bytes);
                      if (first >= last) return;
                      reduce(static_cast<char*>(to) + (first - begin), part + (first - offset),
                             last - first, type, operation, rank == 0);
                    });
}

int ncclAllGather(const void* from, void* to, std::size_t count, int type, Communicator* handle,
                  void* stream) {
  const std::size_t block = count * bytes_of(type);
  return collective(handle, stream, {5, count, type, 0, 0}, from, block,
                    [=](int rank, std::size_t offset, const char* part, std::size_t bytes) {
                      std::memcpy(static_cast<char*>(to) + rank * block + offset, part, bytes);
                    });
}

int ncclSend(const void* from, std::size_t count, int type, int peer, Communicator* handle,
             void* stream) {
  const std::size_t bytes = count * bytes_of(type);
  return submit(handle, "to " + std::to_string(peer), stream, [=](Communicator& of) {
    return of.board->send(of.rank, peer, static_cast<const char*>(from), bytes,
                          [&of] { return of.aborted.load(); });
  });
}

int ncclRecv(void* to, std::size_t count, int type, int peer, Communicator* handle, void* stream) {
  const std::size_t bytes = count * bytes_of(type);
  return submit(handle, "from " + std::to_string(peer), stream, [=](Communicator& of) {
    return of.board->receive(peer, of.rank, static_cast<char*>(to), bytes,
                             [&of] { return of.aborted.load(); });
  });
}

}  // extern "C"
