#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/types/target.h"
#include "passes/program/program.h"
#include "runtime/compile/options.h"
#include "runtime/device/device.h"
#include "runtime/device/stream.h"
#include "runtime/launch/arguments.h"

namespace heddle::runtime {

struct ExecutableImplementation;

/// A program that is compiled for one device and loaded there. Any thread may launch it, any number
/// of times.
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
