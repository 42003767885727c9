#include "runtime/launcher.h"

#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/span.h"
#include "runtime/fault.h"
#include "runtime/module.h"
#include "runtime/per_thread.h"
#include "runtime/statistics.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime {

namespace {

void count_launch(const std::string& name) {
  if (fault::point(fault::Kind::launch))
    throw DeviceError("launch of " + name + " failed (injected fault)");
  statistics().kernel_launches.fetch_add(1, std::memory_order_relaxed);
}

/// The module's code, loaded, as a Loaded made of the bytes and `more`.
template <class Loaded, class... More>
std::unique_ptr<Loaded> load_module(const ModuleImage& module, More... more) {
  const ir::Span span(ir::Phase::load,
                      [&] { return fmt::format("{}", fmt::join(module.kernels, " ")); });
  if (span.data() != nullptr) span.data()->bytes = module.bytes.size();
  try {
    return std::make_unique<Loaded>(module.bytes, more...);
  } catch (const BadImage& failure) {
    throw LoadFailure(failure.what(), module, failure.damaged);
  }
}

class CudaLauncher final : public KernelLauncher {
 public:
  CudaLauncher(const ProgramImage& image, int ordinal) : names_(image.program.kernel_names) {
    std::unordered_map<std::string, cuda::FunctionHandle> functions;
    for (const ModuleImage& module : image.modules) {
      modules_.push_back(load_module<CudaModule>(module, ordinal));
      for (const std::string& name : module.kernels)
        functions[name] = modules_.back()->function(name);
    }
    for (const std::string& name : names_) functions_.push_back(functions.at(name));
    const cuda::ContextScope scope(ordinal);
    for (const passes::Step& step : image.program.steps) {
      if (step.kind == passes::Step::Kind::kernel) {
        allow_shared_bytes(step.kernel.kernel, step.kernel.shared_bytes);
        allow_cluster(step.kernel.kernel, step.kernel.cluster);
      }
      if (const std::optional<passes::StandBy>& other = step.matmul.stand_by)
        allow_shared_bytes(other->kernel.kernel, other->kernel.shared_bytes);
      if (step.kind != passes::Step::Kind::sort || !step.sort.kernels) continue;
      for (const passes::SortKernels::Kernel& one : step.sort.kernels->kernels)
        allow_shared_bytes(one.kernel, one.shared_bytes);
    }
  }

  void launch(const passes::KernelStep& step, std::int64_t blocks, const KernelArguments& arguments,
              const Stream& stream) override {
    count_launch(names_[step.kernel]);
    if (step.cluster > 1)
      return launch_cluster(step, block_count(step, blocks), arguments.pointers, stream);
    cuda::driver().launch_kernel(functions_[step.kernel], block_count(step, blocks), 1, 1,
                                 step.block[0], step.block[1], 1, step.shared_bytes,
                                 stream.handle(), arguments.pointers, nullptr);
  }

  cuda::KernelNodeParams node_params(const passes::KernelStep& step,
                                     std::int64_t blocks) const override {
    cuda::KernelNodeParams params;
    params.function = functions_[step.kernel];
    params.grid[0] = block_count(step, blocks);
    params.block[0] = step.block[0];
    params.block[1] = step.block[1];
    params.shared_bytes = step.shared_bytes;
    return params;
  }

 private:
  unsigned block_count(const passes::KernelStep& step, std::int64_t blocks) const {
    constexpr std::int64_t most_blocks = 0x7fffffff;
    if (blocks > most_blocks) {
      throw DeviceError(fmt::format("{} needs {} blocks, and a launch has at most {}",
                                    names_[step.kernel], blocks, most_blocks));
    }
    return static_cast<unsigned>(blocks);
  }

  void launch_cluster(const passes::KernelStep& step, unsigned blocks, void** pointers,
                      const Stream& stream) const {
    cuda::LaunchAttribute cluster;
    cluster.id = cuda::LaunchAttributeId::cluster_dimension;
    cluster.value.cluster_dimension[0] = step.cluster;
    cluster.value.cluster_dimension[1] = cluster.value.cluster_dimension[2] = 1;
    cuda::LaunchConfig config;
    config.grid[0] = blocks;
    config.block[0] = step.block[0];
    config.block[1] = step.block[1];
    config.shared_bytes = step.shared_bytes;
    config.stream = stream.handle();
    config.attributes = &cluster;
    config.attribute_count = 1;
    cuda::driver().launch_kernel_ex(&config, functions_[step.kernel], pointers, nullptr);
  }

  static constexpr std::uint32_t default_shared_bytes = 48 * 1024;
  static constexpr std::uint32_t portable_cluster = 8;

  /// More blocks than every GPU with clusters takes have to be asked for.
  void allow_cluster(std::uint32_t kernel, std::uint32_t blocks) const {
    if (blocks <= portable_cluster) return;
    cuda::driver().func_set_attribute(
        functions_[kernel], cuda::FunctionAttribute::non_portable_cluster_size_allowed, 1);
  }

  /// What is beyond the default has to be asked for.
  void allow_shared_bytes(std::uint32_t kernel, std::uint32_t bytes) const {
    if (bytes <= default_shared_bytes) return;
    cuda::driver().func_set_attribute(functions_[kernel],
                                      cuda::FunctionAttribute::max_dynamic_shared_size_bytes,
                                      static_cast<int>(bytes));
  }

  std::vector<std::string> names_;
  std::vector<std::unique_ptr<CudaModule>> modules_;
  std::vector<cuda::FunctionHandle> functions_;
};

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
    // Pieces of one size, none less than the grain but of what is less in all.
    const std::int64_t pieces = std::max<std::int64_t>(blocks / step.host_grain, 1);
    // The threads that take part read this one's arguments.
    parallel_for(0, blocks, (blocks + pieces - 1) / pieces,
                 [function = functions_[step.kernel], to = buffers.data(), from = scalars.data()](
                     std::int64_t begin, std::int64_t end) { function(to, from, begin, end); });
  }

  cuda::KernelNodeParams node_params(const passes::KernelStep&, std::int64_t) const override {
    throw InternalError("the CPU has no CUDA graphs");
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

std::unique_ptr<KernelLauncher> load_kernels(const ProgramImage& image, Device device) {
  if (device.is_cuda()) return std::make_unique<CudaLauncher>(image, device.ordinal);
  return std::make_unique<HostLauncher>(image);
}

}  // namespace heddle::runtime
