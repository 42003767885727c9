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

/// A program compiled for one device and loaded there. Any thread may launch it, any number of
/// times.
class Executable {
 public:
  /// Finds the executable in memory or in the disk cache, or compiles it. If several threads
  /// request the same one, it is compiled once. Throws CompileError, DeviceError.
  static std::shared_ptr<const Executable> get(const ir::Graph& graph,
                                               const CompileOptions& options, const Device& device);

  /// See KernelLauncher::prepare_run.
  void prepare_run() const;
  /// Enqueues the program on the stream and returns at once. Arguments are in parameter order;
  /// outputs are appended to `outputs`. A donated argument's buffer may be reused for an output if
  /// the given array is its only holder. Throws ShapeError if extents do not match the parameters
  /// or violate an assumption of the program; ShapeError, IndexError or ValueError if an op of the
  /// program is undefined for them; OutOfMemory; DeviceError if an array is not on the stream's
  /// device or the device fails. After an error `outputs` and the arguments are unchanged, so that
  /// the call may be repeated. Errors contain the caller's source locations.
  void run(std::span<const ArgumentView> arguments, Stream& stream,
           std::vector<DeviceArray>& outputs, const CallerLocations& lines = {}) const;
  /// The same for arguments without other holders. Consumes them only on success.
  std::vector<DeviceArray> run(std::vector<Argument>&& arguments, Stream& stream,
                               const CallerLocations& lines = {}) const;

  const passes::Program& program() const;
  int kernel_count() const;

  explicit Executable(std::unique_ptr<ExecutableImplementation> implementation);
  ~Executable();

 private:
  std::unique_ptr<ExecutableImplementation> implementation_;
};

/// The generated source, for people. Neither the cache nor a device is used. `target` selects the
/// printer: CUDA C++ or host C++.
std::string generated_source(const ir::Graph& graph, const CompileOptions& options,
                             const ir::Target& target);
/// Compiles for a target that need not be present, and stores the result in the disk cache. Returns
/// the number of kernels compiled; 0 if all were cached.
int warm(const ir::Graph& graph, const CompileOptions& options, const ir::Target& target);

}  // namespace heddle::runtime
