#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/image.h"
#include "runtime/launcher.h"
#include "runtime/prepared.h"

namespace heddle::runtime {

/// Runs a loaded program: binds arguments, finds memory, and launches the steps in order.
class ProgramRunner {
 public:
  ProgramRunner(passes::Program program, std::unique_ptr<KernelLauncher> launcher)
      : program_(std::move(program)),
        label_(std::make_shared<const std::string>(program_.name)),
        launcher_(std::move(launcher)) {}

  const passes::Program& program() const { return program_; }
  /// As Executable::run.
  std::vector<DeviceArray> run(const std::vector<Argument>& arguments, Stream& stream,
                               const ir::Graph* graph = nullptr);

 private:
  std::shared_ptr<const Prepared> prepared_for(ir::SymbolBindings bindings, const ir::Graph* graph);

  passes::Program program_;
  Label label_;  ///< of its memory, in OutOfMemory's list
  std::unique_ptr<KernelLauncher> launcher_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Prepared>> prepared_;  ///< most recent first, a few
};

}  // namespace heddle::runtime
