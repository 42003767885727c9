#include "frontend/graph/node_memory.h"

#include <cstddef>
#include <new>

#include "runtime/base/per_thread.h"

namespace heddle::frontend {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t capacity = 0;  // the sanitizer finds uses of memory that was freed
#else
constexpr std::size_t capacity = 1024;
#endif

/// Memory of destroyed nodes, as a list.
class NodeMemory {
 public:
  NodeMemory() = default;
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  ~NodeMemory() {
    while (first_ != nullptr) ::operator delete(take());
  }

  void* allocate() { return first_ == nullptr ? ::operator new(sizeof(Node)) : take(); }
  void free(void* memory) {
    if (count_ == capacity) return ::operator delete(memory);
    first_ = new (memory) Free{first_};
    ++count_;
  }

 private:
  struct Free {
    Free* next;
  };

  void* take() {
    Free* const taken = first_;
    first_ = taken->next;
    --count_;
    return taken;
  }

  Free* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace

Node* new_node() { return new (runtime::per_thread<NodeMemory>().allocate()) Node; }

void free_node_memory(void* memory) { runtime::per_thread<NodeMemory>().free(memory); }

}  // namespace heddle::frontend
