// A tool behind NVTX 3: keeps the ranges that it is told of, a line each, indented by how many are
// open around it.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
std::string text;
thread_local int depth = 0;

struct Attributes {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type, reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const char* message;
};

struct Domain {
  std::string name;
};

void* create(const char* name) { return new Domain{name}; }

int push(void* domain, const Attributes* attributes) {
  const std::lock_guard lock(mutex);
  const bool sane = attributes->version == 3 && attributes->size == sizeof(Attributes) &&
                    attributes->message_type == 1;
  text.append(static_cast<std::size_t>(depth) * 2, ' ');
  text += static_cast<Domain*>(domain)->name + ": " + (sane ? attributes->message : "?") + "\n";
  return depth++;
}

int pop(void*) { return --depth; }

using Function = void (*)();
struct Callbacks {
  std::size_t size;
  int (*table)(int module, Function*** table, unsigned* size);
};

}  // namespace

extern "C" {

int InitializeInjectionNvtx2(const void* (*get_table)(std::uint32_t)) {
  const auto* const callbacks = static_cast<const Callbacks*>(get_table(1));
  if (callbacks == nullptr || callbacks->size < sizeof(Callbacks)) return 0;
  Function** table = nullptr;
  unsigned size = 0;
  constexpr int core2 = 5;
  if (callbacks->table(core2, &table, &size) == 0 || size < 16) return 0;
  *table[4] = reinterpret_cast<Function>(&push);
  *table[5] = reinterpret_cast<Function>(&pop);
  *table[12] = reinterpret_cast<Function>(&create);
  return 1;
}

/// What came in so far.
const char* heddle_fake_nvtx_ranges() {
  const std::lock_guard lock(mutex);
  static std::string copy;
  copy = text;
  return copy.c_str();
}
int heddle_fake_nvtx_depth() { return depth; }
}
