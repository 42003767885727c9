#include "runtime/host/launcher.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "runtime/base/per_thread.h"
#include "runtime/base/thread_pool.h"
#include "runtime/host/module.h"
#include "runtime/launch/load_module.h"

namespace heddle::runtime::host {

namespace {

class HostLauncher final : public KernelLauncher {
 public:
  explicit HostLauncher(const ProgramImage& image) : names_(image.program.kernel_names) {
    std::unordered_map<std::string, HostFunction> functions;
    for (const ModuleImage& module : image.modules) {
      modules_.push_back(load_module<HostModule>(module));
      for (const std::string& name : module.kernels)
        functions[name] = modules_.back()->function(name);
    }
    for (const std::string& name : names_) functions_.push_back(functions.at(name));
  }

  void launch(const passes::KernelStep& step, std::int64_t blocks, const KernelArguments& arguments,
              const Stream&) override {
    count_launch(names_[step.kernel]);
    auto& [buffers, scalars] = per_thread<Arguments>();
    buffers.clear();
    scalars.clear();
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      const auto [low, high] = arguments.slots[i];
      if (step.parameters[i].kind == passes::Parameter::Kind::buffer) {
        buffers.push_back(reinterpret_cast<void*>(low));
        continue;
      }
      scalars.push_back(static_cast<std::int64_t>(low));
      if (step.parameters[i].words() == 2) scalars.push_back(static_cast<std::int64_t>(high));
    }
    // Pieces of equal size. Each has at least the grain size, unless the whole range is shorter.
    const std::int64_t pieces = std::max<std::int64_t>(blocks / step.host_grain, 1);
    // The worker threads read this thread's argument arrays.
    parallel_for(0, blocks, (blocks + pieces - 1) / pieces,
                 [function = functions_[step.kernel], to = buffers.data(), from = scalars.data()](
                     std::int64_t begin, std::int64_t end) { function(to, from, begin, end); });
  }

 private:
  struct Arguments {
    std::vector<void*> buffers;
    std::vector<std::int64_t> scalars;
  };
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<HostModule>> modules_;
  std::vector<HostFunction> functions_;
};

}  // namespace

std::unique_ptr<KernelLauncher> load(const ProgramImage& image) {
  return std::make_unique<HostLauncher>(image);
}

}  // namespace heddle::runtime::host
