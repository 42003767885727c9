#include "runtime/host/launcher.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/base/interrupt.h"
#include "runtime/base/log.h"
#include "runtime/base/per_thread.h"
#include "runtime/base/thread_pool.h"
#include "runtime/compile/deferred.h"
#include "runtime/host/blocks/block_kernel.h"
#include "runtime/host/module.h"
#include "runtime/launch/load_module.h"

namespace heddle::runtime::host {

namespace {

/// The compiled kernels of a program, by index; null where one is not compiled.
class CompiledKernels {
 public:
  explicit CompiledKernels(const ProgramImage& image) {
    std::unordered_map<std::string, HostFunction> functions;
    for (const ModuleImage& module : image.modules) {
      modules_.push_back(load_module<HostModule>(module));
      for (const std::string& name : module.kernels)
        functions[name] = modules_.back()->function(name);
    }
    for (const std::string& name : image.program.kernel_names) {
      const auto found = functions.find(name);
      functions_.push_back(found == functions.end() ? nullptr : found->second);
    }
  }
  HostFunction function(std::size_t kernel) const { return functions_[kernel]; }

 private:
  std::vector<std::unique_ptr<HostModule>> modules_;
  std::vector<HostFunction> functions_;
};

/// Runs kernels uncompiled, and compiles all of them once that pays.
class UncompiledKernels {
 public:
  explicit UncompiledKernels(std::shared_ptr<const Deferred> deferred)
      : deferred_(std::move(deferred)) {
    const ReadyLoops& loops = *ReadyLoops::of(deferred_->target);
    for (std::size_t i = 0; i < deferred_->uncompiled.size(); ++i) {
      kernels_.push_back(!deferred_->uncompiled[i]
                             ? nullptr
                             : std::make_unique<BlockKernel>(deferred_->planned.printed(i), loops));
    }
  }

  const BlockKernel* kernel(std::size_t kernel) const { return kernels_[kernel].get(); }

  /// Counts a launch. Returns the compiled kernels once there are any.
  const CompiledKernels* count(double nanoseconds) {
    work_.fetch_add(nanoseconds, std::memory_order_relaxed);
    return ready_.load(std::memory_order_acquire);
  }

  /// Compiles the kernels if they are worth it. A failure is told once, and they stay uncompiled.
  void compile_if_worth_it() {
    if (ready_.load(std::memory_order_acquire) != nullptr ||
        work_.load(std::memory_order_relaxed) < deferred_->worth ||
        compiling_.exchange(true, std::memory_order_relaxed))
      return;
    try {
      if (!deferred_->compile) return;
      const std::optional<ProgramImage> image = deferred_->compile();
      if (!image) return;
      compiled_.emplace(*image);
      ready_.store(&*compiled_, std::memory_order_release);
    } catch (const Interrupted&) {
      compiling_.store(false, std::memory_order_relaxed);
      throw;
    } catch (const std::exception& failure) {
      log().warn("{} Its kernels go on uncompiled.", failure.what());
    }
  }

 private:
  std::shared_ptr<const Deferred> deferred_;
  std::vector<std::unique_ptr<BlockKernel>> kernels_;
  std::atomic<double> work_ = 0;
  std::atomic<bool> compiling_ = false;      ///< or has been tried
  std::optional<CompiledKernels> compiled_;  ///< set once, by the thread that set `compiling_`
  std::atomic<const CompiledKernels*> ready_ = nullptr;
};

class HostLauncher final : public KernelLauncher {
 public:
  explicit HostLauncher(const ProgramImage& image)
      : names_(image.program.kernel_names), compiled_(image) {
    if (image.deferred) uncompiled_.emplace(image.deferred);
  }

  void prepare_run() override {
    if (uncompiled_) uncompiled_->compile_if_worth_it();
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
    HostFunction function = compiled_.function(step.kernel);
    const BlockKernel* const blocked = uncompiled_ ? uncompiled_->kernel(step.kernel) : nullptr;
    if (blocked != nullptr) {
      const double work = blocked->nanoseconds(scalars.data(), blocks);
      const CompiledKernels* const compiled = uncompiled_->count(work);
      function = compiled == nullptr ? nullptr : compiled->function(step.kernel);
    }
    // Pieces of equal size. Each has at least the grain size, unless the whole range is shorter.
    const std::int64_t pieces = std::max<std::int64_t>(blocks / step.host_grain, 1);
    // The worker threads read this thread's argument arrays.
    parallel_for(0, blocks, (blocks + pieces - 1) / pieces,
                 [function, blocked, to = buffers.data(), from = scalars.data()](std::int64_t begin,
                                                                                 std::int64_t end) {
                   function != nullptr ? function(to, from, begin, end)
                                       : blocked->run(to, from, begin, end);
                 });
  }

 private:
  struct Arguments {
    std::vector<void*> buffers;
    std::vector<std::int64_t> scalars;
  };
  std::vector<std::string> names_;
  CompiledKernels compiled_;
  std::optional<UncompiledKernels> uncompiled_;
};

}  // namespace

std::unique_ptr<KernelLauncher> load(const ProgramImage& image) {
  return std::make_unique<HostLauncher>(image);
}

}  // namespace heddle::runtime::host
