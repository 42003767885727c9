#include "runtime/host/blocks/ready_loops.h"

#include <array>
#include <atomic>
#include <string>

#include <fmt/format.h>

#include "heddle/error.h"

#include "codegen/blocks/ready_loops.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/log.h"
#include "runtime/host/module.h"

// The objects that runtime/ready_loops builds.
#ifdef HEDDLE_READY_LOOPS
#define HEDDLE_EMBED(level)                                    \
  asm(".pushsection .rodata\n"                                 \
      ".balign 64\n"                                           \
      "heddle_loops_v" #level                                  \
      "_begin:\n"                                              \
      ".incbin \"" HEDDLE_READY_LOOPS "/heddle_loops_v" #level \
      ".so\"\n"                                                \
      "heddle_loops_v" #level                                  \
      "_end:\n"                                                \
      ".popsection\n");                                        \
  extern "C" const char heddle_loops_v##level##_begin[], heddle_loops_v##level##_end[];
HEDDLE_EMBED(2)
HEDDLE_EMBED(3)
HEDDLE_EMBED(4)
#endif

namespace heddle::runtime::host {

namespace {

/// The loops of one embedded object. Looks each symbol up once.
class EmbeddedLoops final : public ReadyLoops {
 public:
  explicit EmbeddedLoops(std::string_view object) : module_(object) {}

  heddle_blocks::MapLoop map(ir::Op op, DType dtype) const override {
    return reinterpret_cast<heddle_blocks::MapLoop>(
        find(of(by_op_, op, dtype), [&] { return codegen::loops_of(op, dtype); }));
  }
  heddle_blocks::MapLoop cast(DType from, DType to) const override {
    return reinterpret_cast<heddle_blocks::MapLoop>(
        find(of(casts_, from, to), [&] { return codegen::cast_loop(from, to); }));
  }
  heddle_blocks::SearchLoop search(ir::Op op, DType dtype) const override {
    return reinterpret_cast<heddle_blocks::SearchLoop>(
        find(of(by_op_, op, dtype), [&] { return codegen::loops_of(op, dtype); }));
  }
  const heddle_blocks::ReductionLoops& reduction(ir::Op op, DType dtype) const override {
    return *static_cast<const heddle_blocks::ReductionLoops*>(
        find(of(by_op_, op, dtype), [&] { return codegen::loops_of(op, dtype); }));
  }
  const heddle_blocks::ScanLoops& scan(ir::Op op, DType dtype, bool segmented) const override {
    void* const found =
        segmented ? find(of(segmented_, op, dtype),
                         [&] { return codegen::segmented_loops_of(op, dtype); })
                  : find(of(by_op_, op, dtype), [&] { return codegen::loops_of(op, dtype); });
    return *static_cast<const heddle_blocks::ScanLoops*>(found);
  }

 private:
  template <class Name>
  void* find(std::atomic<void*>& slot, const Name& name) const {
    void* found = slot.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = module_.symbol(name());
      slot.store(found, std::memory_order_release);
    }
    return found;
  }

  using Row = std::array<std::atomic<void*>, dtype_count>;
  template <class Table, class Key>
  static std::atomic<void*>& of(Table& table, Key row, DType dtype) {
    return table[static_cast<std::size_t>(row)][static_cast<std::size_t>(dtype)];
  }

  HostModule module_;
  mutable std::array<Row, ir::op_count> by_op_{}, segmented_{};
  mutable std::array<Row, dtype_count> casts_{};
};

#ifdef HEDDLE_READY_LOOPS
/// nullptr if the system does not load the object, as where no folder may hold code.
const ReadyLoops* load(const char* begin, const char* end) {
  try {
    return new EmbeddedLoops({begin, static_cast<std::size_t>(end - begin)});
  } catch (const DeviceError& failure) {
    log().debug("The ready-made loops do not load: {}", failure.what());
    return nullptr;
  }
}
#endif

}  // namespace

const ReadyLoops* ReadyLoops::of([[maybe_unused]] const ir::Target& target) {
#ifdef HEDDLE_READY_LOOPS
  static constinit std::array<ir::LazyStatic<const ReadyLoops*>, 3> loaded;
  if (target.architecture == "x86-64-v4")
    return loaded[2].get([] { return load(heddle_loops_v4_begin, heddle_loops_v4_end); });
  if (target.architecture == "x86-64-v3")
    return loaded[1].get([] { return load(heddle_loops_v3_begin, heddle_loops_v3_end); });
  if (target.architecture == "x86-64-v2")
    return loaded[0].get([] { return load(heddle_loops_v2_begin, heddle_loops_v2_end); });
#endif
  return nullptr;
}

}  // namespace heddle::runtime::host
