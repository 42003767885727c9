#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "passes/program.h"
#include "runtime/device.h"
#include "runtime/memory.h"

namespace heddle::runtime {

/// A C-ordered array on a device: `type.shape` is constant, its first element is at
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

/// An argument as a launch reads it: an array stays its holder's.
struct ArgumentView {
  const DeviceArray* array = nullptr;  ///< null for a scalar
  ScalarArgument scalar{};
};
ArgumentView view_of(const Argument& argument);
std::vector<ArgumentView> views_of(std::span<const Argument> arguments);

/// What a program is compiled for beside its graph; all of it is part of the key.
struct CompileOptions {
  bool strict = false;          ///< no contraction of a*b+c
  bool approximate = false;     ///< 2 ulp division and square root, fast exp and log
  std::vector<bool> donated{};  ///< per parameter: its memory may become an output's; empty: none
  std::vector<bool> aligned{};  ///< per parameter: starts at a multiple of 16 bytes; empty: all
  std::vector<std::string>
      disabled{};      ///< passes and families switched off by name (HEDDLE_DISABLE too)
  int host_level = 3;  ///< of the CPU's compiler's optimization, 0 to 3 (HEDDLE_CXX_LEVEL)
};

void hash_into(ir::Hasher& hasher, const CompileOptions& options, const Device& device);

/// Where a caller has recorded what a program computes: the program may have been made for an equal
/// one that another place recorded.
struct CallerLines {
  CallerLines(const ir::Graph* graph = nullptr)  // NOLINT: a graph has the lines of its nodes
      : graph(graph) {}
  explicit CallerLines(std::span<const ir::Location> outputs) : outputs(outputs) {}
  /// Of the op that is an output of the program.
  ir::Location of_output(std::size_t index) const {
    if (graph != nullptr) return graph->node(graph->outputs[index]).location;
    return index < outputs.size() ? outputs[index] : ir::Location();
  }

  /// What the caller calls the program.
  std::string_view name_of(std::string_view program) const {
    return graph != nullptr ? std::string_view(graph->name) : program;
  }

  const ir::Graph* graph = nullptr;  ///< has the program's hash
  std::span<const ir::Location> outputs;
};

struct ExecutableImplementation;

/// A program compiled for one kind of device: prepared once, launched many times, from any thread.
class Executable {
 public:
  /// From memory, the disk cache, or by compiling; one compile when many threads ask. Throws
  /// CompileError, DeviceError.
  static std::shared_ptr<const Executable> get(const ir::Graph& graph,
                                               const CompileOptions& options, const Device& device);

  /// Enqueues the program on the stream and returns at once; its outputs are put behind `outputs`.
  /// Arguments in parameter order. A donated argument's buffer may become an output's when only the
  /// array that is given holds it. Throws ShapeError when extents do not fit the parameters or
  /// break a fact, ShapeError, IndexError or ValueError when an op of the program has no meaning
  /// for them, OutOfMemory, DeviceError when an array is not on the stream's device or the device
  /// fails, and then `outputs` and the arguments are as before, so that the same call may be tried
  /// again. Errors name the caller's lines.
  void run(std::span<const ArgumentView> arguments, Stream& stream,
           std::vector<DeviceArray>& outputs, const CallerLines& lines = {}) const;
  /// The same for arguments that nobody else holds; takes from them only when it succeeds.
  std::vector<DeviceArray> run(std::vector<Argument>&& arguments, Stream& stream,
                               const CallerLines& lines = {}) const;

  const passes::Program& program() const;
  int kernel_count() const;

  explicit Executable(std::unique_ptr<ExecutableImplementation> implementation);
  ~Executable();

 private:
  std::unique_ptr<ExecutableImplementation> implementation_;
};

/// Texts for people, made from scratch each time (no cache, no device). `target` decides which
/// printer: CUDA C++ or host C++.
std::string generated_source(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target);
/// Compiles for a target that need not be here and fills the disk cache. Returns the number of
/// kernels compiled; 0 when all were there.
int warm(const ir::Graph& graph, const CompileOptions& options, const ir::Target& target);

}  // namespace heddle::runtime
