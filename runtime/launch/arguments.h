#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/device/memory.h"

namespace heddle::runtime {

/// A C-contiguous array on a device: `type.shape` is constant, and the first element is at
/// buffer->pointer() + offset.
struct DeviceArray {
  ir::Type type;
  BufferRef buffer;
  std::int64_t offset = 0;  ///< bytes
};

/// A scalar argument: the value in the parameter's dtype.
struct ScalarArgument {
  DType dtype = DType::f32;
  ir::ElementBits bits;
};

using Argument = std::variant<DeviceArray, ScalarArgument>;

/// A non-owning view of an argument, for a launch.
struct ArgumentView {
  const DeviceArray* array = nullptr;  ///< null for a scalar
  ScalarArgument scalar{};
};
ArgumentView view_of(const Argument& argument);
std::vector<ArgumentView> views_of(std::span<const Argument> arguments);

/// Source locations of the caller's recording. The program itself may have been compiled for an
/// equal graph recorded elsewhere in the user's code.
struct CallerLocations {
  CallerLocations(const ir::Graph* graph = nullptr)  // NOLINT: a graph has the lines of its nodes
      : graph(graph) {}
  explicit CallerLocations(std::span<const ir::Location> outputs) : outputs(outputs) {}
  /// The location of the op that computes output `index` of the program.
  ir::Location of_output(std::size_t index) const {
    if (graph != nullptr) return graph->node(graph->outputs[index]).location;
    return index < outputs.size() ? outputs[index] : ir::Location();
  }

  /// The caller's name for the program.
  std::string_view name_of(std::string_view program) const {
    return graph != nullptr ? std::string_view(graph->name) : program;
  }

  const ir::Graph* graph = nullptr;  ///< a graph with the program's hash
  std::span<const ir::Location> outputs;
};

}  // namespace heddle::runtime
