#include "runtime/host/launcher.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/log.h"
#include "runtime/base/per_thread.h"
#include "runtime/base/thread_pool.h"
#include "runtime/compile/deferred.h"
#include "runtime/host/blocks/block_kernel.h"
#include "runtime/host/module.h"
#include "runtime/launch/load_module.h"
#include "runtime/launch/prepared.h"

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

/// Says that kernels stay uncompiled: the first time in a process with all that the compiler says.
void tell_failure(const std::exception& failure) {
  static std::atomic<bool> told = false;
  const std::string_view text = failure.what();
  if (!told.exchange(true)) return log().warn("{} Its kernels go on uncompiled.", text);
  log().debug("Kernels go on uncompiled: {}", text.substr(0, text.find('\n')));
}

/// Runs kernels uncompiled, and compiles all of them once that pays.
class UncompiledKernels {
 public:
  UncompiledKernels(std::shared_ptr<const Deferred> deferred, const passes::Program& program)
      : deferred_(std::move(deferred)) {
    const ReadyLoops& loops = *ReadyLoops::of(deferred_->target);
    for (std::size_t i = 0; i < deferred_->uncompiled.size(); ++i) {
      kernels_.push_back(!deferred_->uncompiled[i]
                             ? nullptr
                             : std::make_unique<BlockKernel>(deferred_->planned.printed(i), loops));
    }
    for (const passes::Step& step : program.steps) next_run_ += work_of(step.kernel());
  }

  const BlockKernel* kernel(std::size_t kernel) const { return kernels_[kernel].get(); }

  /// The compiled kernels; null as long as there are none.
  const CompiledKernels* ready() const { return ready_.load(std::memory_order_acquire); }

  void count(double nanoseconds) { work_.fetch_add(nanoseconds, std::memory_order_relaxed); }

  /// Compiles the kernels if they are worth it. If that fails, they stay uncompiled.
  void compile_if_worth_it() {
    if (ready() != nullptr || work_.load(std::memory_order_relaxed) + next_run_ < deferred_->worth)
      return;
    // A child of a fork does not wait for what its parent has claimed.
    std::uint64_t claim = claim_.load(std::memory_order_relaxed);
    const std::uint64_t own = ir::fork_generation() + 1;
    if (claim == own || !claim_.compare_exchange_strong(claim, own, std::memory_order_relaxed))
      return;
    try {
      load();
    } catch (const Interrupted&) {
      claim_.store(0, std::memory_order_relaxed);
      throw;
    } catch (const std::exception& failure) {
      tell_failure(failure);
    }
  }

 private:
  /// The estimated work of a step, in nanoseconds; 0 where extents are symbolic.
  double work_of(const passes::KernelStep* step) const {
    const BlockKernel* const blocked = step == nullptr ? nullptr : kernel(step->kernel);
    const bool is_known = blocked != nullptr && !blocked->constant_sizes.empty() &&
                          std::ranges::all_of(step->grid, [](const passes::GridExtent& extent) {
                            return extent.elements.is_constant();
                          });
    return is_known ? blocked->nanoseconds(nullptr, prepare_kernel(*step, {}).blocks) : 0;
  }

  /// Compiles again, once, if what is in the cache does not load.
  void load() {
    std::unique_ptr<CompiledKernels> made;
    for (const Lookup lookup : {Lookup::cached, Lookup::anew}) {
      const std::optional<ProgramImage> image = deferred_->compile(lookup);
      if (!image) return;
      try {
        made = std::make_unique<CompiledKernels>(*image);
        break;
      } catch (const LoadFailure&) {
        if (lookup == Lookup::anew) throw;
      }
    }
    const ir::ForkSection section;
    compiled_ = std::move(made);
    ready_.store(compiled_.get(), std::memory_order_release);
  }

  std::shared_ptr<const Deferred> deferred_;
  std::vector<std::unique_ptr<BlockKernel>> kernels_;
  double next_run_ = 0;  ///< nanoseconds, of the kernels of known extents
  std::atomic<double> work_ = 0;
  /// 1 + the fork generation in which the kernels are, or were, compiled; 0: they were not.
  std::atomic<std::uint64_t> claim_ = 0;
  std::unique_ptr<const CompiledKernels> compiled_;  ///< set once, by the thread of the claim
  std::atomic<const CompiledKernels*> ready_ = nullptr;
};

class HostLauncher final : public KernelLauncher {
 public:
  explicit HostLauncher(const ProgramImage& image)
      : names_(image.program.kernel_names), compiled_(image) {
    if (image.deferred) uncompiled_.emplace(image.deferred, image.program);
  }

  void prepare_run() override {
    if (uncompiled_) uncompiled_->compile_if_worth_it();
  }

  void launch(const passes::KernelStep& step, std::int64_t blocks, const KernelArguments& arguments,
              const Stream&) override {
    count_launch(names_[step.kernel]);
    // Taken out: what interrupts the kernel may launch others on this thread.
    auto& kept = per_thread<Arguments>();
    Arguments own = std::move(kept);
    auto& [buffers, scalars] = own;
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
      const CompiledKernels* const compiled = uncompiled_->ready();
      function = compiled == nullptr ? nullptr : compiled->function(step.kernel);
      if (compiled == nullptr) uncompiled_->count(blocked->nanoseconds(scalars.data(), blocks));
    }
    // Pieces of equal size. Each has at least the grain size, unless the whole range is shorter.
    const std::int64_t pieces = std::max<std::int64_t>(blocks / step.host_grain, 1);
    // The worker threads read this thread's argument arrays.
    parallel_for(0, blocks, (blocks + pieces - 1) / pieces,
                 [function, blocked, to = buffers.data(), from = scalars.data()](std::int64_t begin,
                                                                                 std::int64_t end) {
                   function != nullptr ? function(to, from, begin, end)
                                       : blocked->run(to, from, begin, end);
                   interruptible_piece();
                 });
    kept = std::move(own);
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
