#pragma once

#include <array>
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
  invalid_image = 200,
  invalid_context = 201,
  not_found = 500,
  not_ready = 600,
  capture_unsupported = 900,
  capture_isolation = 905
};

struct Context {};
struct Graph;

struct Stream {
  std::deque<std::function<void()>> work;
  Graph* capture = nullptr;
};

/// One recording of an event: what waits for it holds on to it when the event is recorded anew.
struct Mark {
  Stream* stream = nullptr;
  bool passed = true;
  bool captured = false;
  double when = 0;  ///< on the device's clock, once it has passed
};

struct Event {
  std::shared_ptr<Mark> mark = std::make_shared<Mark>();
  bool timed = false;
};

constexpr std::size_t capacity = std::size_t{256} << 20;

struct State {
  std::recursive_mutex mutex;
  Context context;
  std::map<std::uint64_t, std::size_t> blocks;
  std::map<std::uint64_t, std::size_t> pinned;
  std::size_t used = 0;
  std::map<Stream*, bool> streams;
  double microseconds = 0;  ///< a kernel takes one a block, and a fill one
};

State& state();
using Lock = std::lock_guard<std::recursive_mutex>;

void run_all(Stream* stream);
/// Work needs the device's context, or a stream of it; copies and fills check their range.
bool in_a_block(std::uint64_t pointer, std::size_t bytes);
bool have_context();

/// Counts a call, and says with what it is to fail; 0 for not at all.
int enter(const char* function);

/// What this thread may do while one of its streams is captured is up to the mode that it is in.
bool unsafe_now();

/// Puts work on the stream, or into the graph that is captured from it.
struct Node;
int submit(Stream* stream, const Node& node);

/// What a graph's node, and a launch without a graph, does.
struct Node {
  const struct Kernel* kernel = nullptr;  ///< null for a fill
  unsigned grid = 0, block = 0;
  std::array<unsigned, 3> cluster = {1, 1, 1};
  std::vector<std::array<std::uint64_t, 2>> parameters;
  std::uint64_t destination = 0;
  unsigned char value = 0;
  std::size_t bytes = 0;
};
void execute(const Node& node);

}  // namespace fake
