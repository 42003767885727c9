#include "runtime/cuda/nvtx.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <string>

#include "ir/base/environment.h"
#include "ir/base/span.h"
#include "runtime/base/log.h"

namespace heddle::runtime::nvtx {

namespace {

// The binary interface of nvtx3/nvToolsExt.h and nvtxDetail/nvtxTypes.h.

using FunctionPointer = void (*)();
using Domain = struct DomainOpaque*;

struct EventAttributes {
  std::uint16_t version = 3, size = 48;
  std::uint32_t category = 0;
  std::int32_t color_type = 0;
  std::uint32_t color = 0;
  std::int32_t payload_type = 0, reserved = 0;
  std::uint64_t payload = 0;
  std::int32_t message_type = 1;  ///< ASCII
  const char* message = nullptr;
};
static_assert(sizeof(EventAttributes) == 48);

using DomainCreate = Domain (*)(const char* name);
using DomainRangePush = int (*)(Domain domain, const EventAttributes* attributes);
using DomainRangePop = int (*)(Domain domain);

/// Numbers of NVTX modules, and the slots in their function tables, which a tool sets to its
/// callbacks. Slot 0 is unused.
enum Module : std::uint32_t { core2 = 5, module_count = 7 };
enum Core2 : std::uint32_t { domain_range_push = 4, domain_range_pop = 5, domain_create = 12 };
constexpr std::array<unsigned, module_count> slot_counts = {0, 16, 9, 15, 7, 16, 7};
constexpr std::size_t most_slots = 16;

struct Slots {
  std::array<std::array<FunctionPointer, most_slots>, module_count> functions{};
  std::array<std::array<FunctionPointer*, most_slots + 1>, module_count> tables{};

  Slots() {
    for (std::size_t module = 0; module < module_count; ++module) {
      for (std::size_t i = 1; i < slot_counts[module]; ++i)
        tables[module][i] = &functions[module][i];
    }
  }
  template <class Function>
  Function get(Core2 slot) const {
    return reinterpret_cast<Function>(functions[core2][slot]);
  }
};

Slots& slots() {
  static auto* const instance = new Slots;
  return *instance;
}

int function_table(int module, FunctionPointer*** table, unsigned* size) {
  if (module <= 0 || module >= static_cast<int>(module_count)) return 0;
  const auto index = static_cast<std::size_t>(module);
  if (size != nullptr) *size = slot_counts[index];
  if (table != nullptr) *table = slots().tables[index].data();
  return 1;
}

struct CallbackTable {
  std::size_t struct_size;
  int (*function_table)(int module, FunctionPointer*** table, unsigned* size);
};
struct VersionTable {
  std::size_t struct_size;
  std::uint32_t version, reserved;
  void (*set_tool_version)(std::uint32_t version);
};

using GetExportTable = const void* (*)(std::uint32_t id);
using InitializeInjection = int (*)(GetExportTable get);

const void* export_table(std::uint32_t id) {
  static const CallbackTable callbacks = {sizeof(CallbackTable), function_table};
  static const VersionTable version = {sizeof(VersionTable), 3, 0, [](std::uint32_t) {}};
  constexpr std::uint32_t callbacks_id = 1, version_id = 3;
  if (id == callbacks_id) return &callbacks;
  return id == version_id ? &version : nullptr;
}

InitializeInjection find_tool() {
  constexpr const char* entry = "InitializeInjectionNvtx2";
  if (void* const loaded = dlsym(RTLD_DEFAULT, entry))
    return reinterpret_cast<InitializeInjection>(loaded);
  const std::string path = ir::environment(ir::Variable::nvtx_injection);
  if (path.empty()) return nullptr;
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym(library, entry) : nullptr;
  if (found == nullptr) {
    const char* const message = dlerror();
    log().warn("NVTX_INJECTION64_PATH={} is not an NVTX tool: {}", path,
               message != nullptr ? message : "it lacks InitializeInjectionNvtx2");
  }
  return reinterpret_cast<InitializeInjection>(found);
}

class Ranges final : public ir::SpanWatcher {
 public:
  Ranges(Domain domain, DomainRangePush push, DomainRangePop pop)
      : domain_(domain), push_(push), pop_(pop) {}

  void begin(const ir::SpanData& span) override {
    if (span.phase == ir::Phase::allocate) return;
    const std::string message = span.phase == ir::Phase::range
                                    ? span.name
                                    : std::string(name_of(span.phase)) + " " + span.name;
    EventAttributes attributes;
    attributes.category = static_cast<std::uint32_t>(span.phase) + 1;
    attributes.message = message.c_str();
    push_(domain_, &attributes);
  }
  void end(const ir::SpanData& span) override {
    if (span.phase != ir::Phase::allocate) pop_(domain_);
  }
  bool wants_kernels() const noexcept override { return false; }

 private:
  Domain domain_;
  DomainRangePush push_;
  DomainRangePop pop_;
};

}  // namespace

void attach() {
  const InitializeInjection tool = find_tool();
  if (tool == nullptr || tool(export_table) == 0) return;
  const auto create = slots().get<DomainCreate>(domain_create);
  const auto push = slots().get<DomainRangePush>(domain_range_push);
  const auto pop = slots().get<DomainRangePop>(domain_range_pop);
  if (push == nullptr || pop == nullptr) return;
  ir::add_watcher(
      std::make_shared<Ranges>(create != nullptr ? create("heddle") : nullptr, push, pop));
}

}  // namespace heddle::runtime::nvtx
