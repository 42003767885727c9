// Modules: kernels that a test's program may launch, their attributes, and variables.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "control.h"
#include "state.h"

namespace fake {

const Kernel nothing{"", {}, nullptr};

namespace {

template <class T>
T parameter(const Node& node, std::size_t index) {
  T value;
  std::memcpy(&value, &node.parameters[index], sizeof(value));
  return value;
}

// Every launch is checked to be as wide as its program says, and waits for its stream's turn.
const Kernel kernels[] = {
    {"fake_add",  // out = a + b
     {8, 8, 8, 8},
     [](const Node& node) {
       const auto *a = parameter<const float*>(node, 0), *b = parameter<const float*>(node, 1);
       auto* out = parameter<float*>(node, 2);
       for (std::int64_t i = 0; i < parameter<std::int64_t>(node, 3); ++i) out[i] = a[i] + b[i];
     }},
    {"fake_scale",  // out = a * factor
     {8, 8, 4, 8},
     [](const Node& node) {
       const auto* a = parameter<const float*>(node, 0);
       auto* out = parameter<float*>(node, 1);
       const auto factor = parameter<float>(node, 2);
       for (std::int64_t i = 0; i < parameter<std::int64_t>(node, 3); ++i) out[i] = a[i] * factor;
     }},
    {"fake_tally",  // out = a + how many blocks were counted before, each once; counts must be 0
     {8, 8, 8, 8},
     [](const Node& node) {
       const auto* a = parameter<const float*>(node, 0);
       auto* counts = parameter<std::uint32_t*>(node, 1);
       auto* out = parameter<float*>(node, 2);
       float sum = 0;
       for (unsigned i = 0; i < node.grid; ++i) sum += static_cast<float>(counts[i]++);
       for (std::int64_t i = 0; i < parameter<std::int64_t>(node, 3); ++i) out[i] = a[i] + sum;
     }},
    {"fake_less",  // out = whether the first of a is less than the first of b
     {8, 8, 8},
     [](const Node& node) {
       *parameter<bool*>(node, 2) =
           *parameter<const float*>(node, 0) < *parameter<const float*>(node, 1);
     }},
    {"fake_shape",  // out = the node's shape
     {8},
     [](const Node& node) {
       std::copy(node.shape.begin(), node.shape.end(), parameter<unsigned*>(node, 0));
     }},
    {"fake_bytes",  // out = 16 bytes of each parameter
     {8, 8, 8, 1, 16, 2, 8, 8},
     [](const Node& node) {
       auto* out = parameter<std::uint64_t*>(node, 0);
       for (const auto& slot : node.parameters) out = std::copy(slot.begin(), slot.end(), out);
     }},
    {"fake_clusters",  // out = blocks of a cluster
     {8, 8},
     [](const Node& node) {
       auto* out = parameter<float*>(node, 0);
       for (std::int64_t i = 0; i < parameter<std::int64_t>(node, 1); ++i)
         out[i] = static_cast<float>(node.cluster[0]);
     }},
};
const Kernel decision{"hd_decide", {8, 8, 8, 8}, [](const Node& node) {
                        const auto value = *parameter<const std::uint8_t*>(node, 0);
                        const auto chosen = parameter<std::int64_t>(node, 2);
                        const auto last = parameter<std::int64_t>(node, 3);
                        *parameter<std::uint64_t*>(node, 1) =
                            std::min<std::int64_t>(value, last) == chosen ? 1 : 0;
                      }};

/// What was set of functions' attributes.
std::map<std::pair<const Kernel*, int>, int>& set_attributes() {
  static auto* const instance = new std::map<std::pair<const Kernel*, int>, int>;
  return *instance;
}

/// The variable of modules that the driver knows, on the current device.
std::uint64_t table_of(Context* context) {
  static auto* const tables = new std::map<Context*, std::uint64_t>;
  std::uint64_t& table = (*tables)[context];
  if (table == 0) {
    void* const block = std::aligned_alloc(512, 512);
    std::memset(block, 0, 512);
    table = reinterpret_cast<std::uint64_t>(block);
    state().blocks[table] = {512, context};
  }
  return table;
}

std::array<std::uint64_t, 2> copy_of(const void* value, std::size_t size) {
  std::array<std::uint64_t, 2> slot{};
  std::memcpy(slot.data(), value, size);
  return slot;
}

}  // namespace

void set_parameters(Node& node, void** parameters) {
  node.parameters.clear();
  for (std::size_t i = 0; i < node.kernel->sizes.size(); ++i)
    node.parameters.push_back(copy_of(parameters[i], node.kernel->sizes[i]));
}

}  // namespace fake

using namespace fake;

extern "C" {

int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  if (const int error = enter("cuModuleLoadDataEx")) return error;
  if (const int error = context_error()) return error;
  const std::string_view elf(
      "\x7f"
      "ELF",
      4);
  const bool known = std::memcmp(image, fake_module, sizeof(fake_module) - 1) == 0;
  if (!known && std::memcmp(image, elf.data(), elf.size()) != 0) return invalid_image;
  return *module = new bool(known), success;
}
int cuModuleUnload(const bool* module) {
  if (const int error = enter("cuModuleUnload")) return error;
  return delete module, success;
}
int cuModuleGetFunction(const Kernel** function, const bool* module, const char* name) {
  if (!*module) return *function = &nothing, success;
  if (std::string_view(name).starts_with(decision.name)) return *function = &decision, success;
  const auto* const found =
      std::find_if(std::begin(kernels), std::end(kernels),
                   [&](const Kernel& one) { return one.name == std::string_view(name); });
  if (found == std::end(kernels)) return not_found;
  return *function = found, success;
}
int cuModuleGetGlobal_v2(std::uint64_t* pointer, std::size_t* bytes, const bool* module,
                         const char* name) {
  if (const int error = enter("cuModuleGetGlobal_v2")) return error;
  const Lock lock(state().mutex);
  if (!*module || name != std::string_view("fake_table")) return not_found;
  *bytes = 64;
  return *pointer = table_of(current_context()), success;
}
int cuFuncGetAttribute(int* value, int attribute, const Kernel* kernel) {
  if (const int error = enter("cuFuncGetAttribute")) return error;
  const Lock lock(state().mutex);
  const auto set = set_attributes().find({kernel, attribute});
  // The most threads of a block, and of dynamic shared memory.
  *value = set != set_attributes().end() ? set->second
           : attribute == 0              ? 1024
           : attribute == 8              ? 49152
                                         : 32;
  return success;
}
int cuFuncGetParamInfo(const Kernel* kernel, std::size_t index, std::size_t* offset,
                       std::size_t* bytes) {
  if (const int error = enter("cuFuncGetParamInfo")) return error;
  if (kernel == &nothing) return not_supported;  // it takes what it is given
  if (index >= kernel->sizes.size()) return invalid_value;
  *offset = 0;
  for (std::size_t i = 0; i < index; ++i) *offset += (kernel->sizes[i] + 7) / 8 * 8;
  return *bytes = kernel->sizes[index], success;
}
int cuFuncSetAttribute(const Kernel* kernel, int attribute, int value) {
  if (const int error = enter("cuFuncSetAttribute")) return error;
  const Lock lock(state().mutex);
  if (attribute < 8) return invalid_value;
  return set_attributes()[{kernel, attribute}] = value, success;
}
}
