#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

enum Result : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  peer_unsupported = 217,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  peer_already_enabled = 704,
  peer_not_enabled = 705,
  launch_failed = 719,
  not_supported = 801,
  capture_unsupported = 900,
  capture_isolation = 905,
  capture_implicit = 906
};

/// A device's only context. After a sticky error all that is asked of it fails with that error.
struct Context {
  std::size_t used = 0;           ///< but for the pool's
  std::size_t pool_used = 0;      ///< of the driver's pool
  std::size_t pool_reserved = 0;  ///< of the driver's pool
  int lost = success;
  bool reaches_peer = false;  ///< of the other device the memory
};
struct Graph;

struct Stream {
  Context* context = nullptr;
  std::deque<std::function<void()>> work;
  Graph* capture = nullptr;
  bool into_graph = false;  ///< the capture's graph is the caller's
  bool forbids = false;     ///< the mode of the capture does
  unsigned flags = 0;
  int priority = 0;
};

/// One recording of an event: what waits for it holds on to it when the event is recorded anew.
struct Mark {
  Stream* stream = nullptr;
  bool passed = true;
  bool captured = false;
  double when = 0;  ///< on the device's clock, once it has passed
  int asked = 0;    ///< queries that found that it has not
};

/// What processes know of an event that they share: how often it was recorded, and passed.
struct SharedMarks {
  std::atomic<std::uint64_t> recorded, passed;
};

struct Event {
  Context* context = nullptr;
  std::shared_ptr<Mark> mark = std::make_shared<Mark>();
  bool timed = false;
  SharedMarks* shared = nullptr;  ///< of an event for several processes
  int file = -1;                  ///< in which they are, in the process that made it
};
/// Waits until what was recorded of a shared event has passed.
void run_until_passed(const Event& event);

/// Memory that other processes can map.
struct SharedPages {
  void* memory = nullptr;
  int file = -1;
};
SharedPages make_shared_pages(std::size_t bytes);

constexpr int devices = 2;
constexpr std::size_t capacity = std::size_t{256} << 20;  ///< of each

struct Block {
  std::size_t bytes = 0;
  Context* context = nullptr;   ///< null for pinned memory of the host
  bool managed = false;         ///< every device may use it, and the host
  Context* resident = nullptr;  ///< the device on which managed memory takes space
  bool of_pool = false;         ///< of the device's pool
  int file = -1;                ///< that other processes can map
  std::string opened_as = {};   ///< the handle, for memory of another process
  int opened = 0;               ///< how often that was opened
};
/// Makes managed memory take space on a device; null for the host.
void move_managed(Block& block, Context* to);
using Blocks = std::map<std::uint64_t, Block>;

struct State {
  std::recursive_mutex mutex;
  std::array<Context, devices> contexts;
  Blocks blocks;  ///< of the devices, and pinned
  std::map<Stream*, bool> streams;
  std::array<Stream*, devices> legacy{}, per_thread{};  ///< the default streams
  double microseconds = 0;  ///< a kernel takes one a block, and a fill one
};

State& state();
using Lock = std::lock_guard<std::recursive_mutex>;

/// Runs what the stream holds, and returns what has become of its context.
int run_all(Stream* stream);

/// The block that the bytes lie in, or null.
const Block* block_of(std::uint64_t pointer, std::size_t bytes);
/// Whether a device may use the bytes: they are its own, or pinned.
bool reaches(const Context* context, std::uint64_t pointer, std::size_t bytes);

/// Null without one.
Context* current_context();
/// The number of a context's device.
std::size_t number_of(const Context* context);
/// What a call in the current context, or for a stream, has to fail with; 0 for nothing.
int context_error();
int stream_error(const Stream* stream);
/// The default streams are the handles 0 and 1, and 2 for that of the thread.
Stream* resolve(Stream* handle);

/// Counts a call, and says with what it is to fail; 0 for not at all. A sticky error is the end of
/// the current context.
int enter(const char* function);
bool is_sticky(int error);

/// What this thread may do while one of its streams is captured is up to the mode that it is in.
bool unsafe_now();

/// Puts work on the stream, or into the graph that is captured from it.
struct Node;
int submit(Stream* stream, const Node& node);

/// What a graph's node, and a launch without a graph, does.
struct Node {
  const struct Kernel* kernel = nullptr;  ///< null for what is no launch
  unsigned grid = 0, block = 0;
  std::array<unsigned, 3> cluster = {1, 1, 1};
  /// Extents of the grid and of the block, dynamic shared memory, whether it is cooperative.
  std::array<unsigned, 8> shape{};
  std::vector<std::array<std::uint64_t, 2>> parameters;
  std::uint64_t destination = 0;
  unsigned char value = 0;
  std::size_t bytes = 0;
  std::function<void()> work;  ///< of a library, instead
  /// A conditional node, instead: what it runs if, or as long as, the condition holds.
  std::shared_ptr<Graph> conditional;
  std::shared_ptr<std::uint64_t> condition;
  bool repeats = false;
};
/// What a test's program may launch; `sizes` are of its parameters, in bytes.
struct Kernel {
  const char* name;
  std::vector<std::size_t> sizes;
  void (*run)(const Node& node);
};
/// The kernel of modules that a test did not make: it does nothing.
extern const Kernel nothing;
void set_parameters(Node& node, void** parameters);

/// A kernel that is given the address of another device's memory has an illegal address.
int execute(const Node& node, Context* context);

}  // namespace fake
