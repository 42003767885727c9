#include "runtime/cuda/launcher.h"

#include <unordered_map>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/cuda/devices.h"
#include "runtime/cuda/program_graph.h"
#include "runtime/launch/load_module.h"

namespace heddle::runtime::cuda {

namespace {

constexpr std::uint32_t default_shared_bytes = 48 * 1024;
constexpr std::uint32_t portable_cluster = 8;

}  // namespace

CudaLauncher::CudaLauncher(const ProgramImage& image, int ordinal)
    : names_(image.program.kernel_names), ordinal_(ordinal) {
  std::unordered_map<std::string, FunctionHandle> functions;
  for (const ModuleImage& module : image.modules) {
    modules_.push_back(load_module<CudaModule>(module, ordinal));
    for (const std::string& name : module.kernels)
      functions[name] = modules_.back()->function(name);
  }
  for (const std::string& name : names_) functions_.push_back(functions.at(name));
  const ContextScope scope(ordinal);
  for (const passes::Step& step : image.program.steps) {
    passes::for_each_kernel(step, [&](const passes::KernelStep& kernel) {
      allow_shared_bytes(kernel.kernel, kernel.shared_bytes);
      allow_cluster(kernel.kernel, kernel.cluster);
    });
  }
}

void CudaLauncher::launch(const passes::KernelStep& step, std::int64_t blocks,
                          const KernelArguments& arguments, const Stream& stream) {
  count_launch(names_[step.kernel]);
  if (step.cluster > 1)
    return launch_cluster(step, block_count(step, blocks), arguments.pointers, stream);
  driver().launch_kernel(functions_[step.kernel], block_count(step, blocks), 1, 1, step.block[0],
                         step.block[1], 1, step.shared_bytes, stream.handle(), arguments.pointers,
                         nullptr);
}

bool CudaLauncher::can_make_graph(const Schedule& schedule) const {
  return CudaGraph::possible(schedule);
}

std::unique_ptr<ProgramGraph> CudaLauncher::make_graph(const Schedule& schedule, BufferRef arena,
                                                       EnqueueCall enqueue_call) const {
  return std::make_unique<CudaGraph>(schedule, *this, std::move(arena), std::move(enqueue_call),
                                     ordinal_);
}

KernelNodeParams CudaLauncher::node_params(const passes::KernelStep& step,
                                           std::int64_t blocks) const {
  KernelNodeParams params;
  params.function = functions_[step.kernel];
  params.grid[0] = block_count(step, blocks);
  params.block[0] = step.block[0];
  params.block[1] = step.block[1];
  params.shared_bytes = step.shared_bytes;
  return params;
}

unsigned CudaLauncher::block_count(const passes::KernelStep& step, std::int64_t blocks) const {
  constexpr std::int64_t most_blocks = 0x7fffffff;
  if (blocks > most_blocks) {
    throw DeviceError(fmt::format("{} needs {} blocks, but a launch has at most {}",
                                  names_[step.kernel], blocks, most_blocks));
  }
  return static_cast<unsigned>(blocks);
}

void CudaLauncher::launch_cluster(const passes::KernelStep& step, unsigned blocks, void** pointers,
                                  const Stream& stream) const {
  LaunchAttribute cluster;
  cluster.id = LaunchAttributeId::cluster_dimension;
  cluster.value.cluster_dimension[0] = step.cluster;
  cluster.value.cluster_dimension[1] = cluster.value.cluster_dimension[2] = 1;
  LaunchConfig config;
  config.grid[0] = blocks;
  config.block[0] = step.block[0];
  config.block[1] = step.block[1];
  config.shared_bytes = step.shared_bytes;
  config.stream = stream.handle();
  config.attributes = &cluster;
  config.attribute_count = 1;
  driver().launch_kernel_ex(&config, functions_[step.kernel], pointers, nullptr);
}

/// Opts in to clusters larger than the portable size.
void CudaLauncher::allow_cluster(std::uint32_t kernel, std::uint32_t blocks) const {
  if (blocks <= portable_cluster) return;
  driver().func_set_attribute(functions_[kernel],
                              FunctionAttribute::non_portable_cluster_size_allowed, 1);
}

/// Opts in to more dynamic shared memory than the default limit.
void CudaLauncher::allow_shared_bytes(std::uint32_t kernel, std::uint32_t bytes) const {
  if (bytes <= default_shared_bytes) return;
  driver().func_set_attribute(functions_[kernel], FunctionAttribute::max_dynamic_shared_size_bytes,
                              static_cast<int>(bytes));
}

}  // namespace heddle::runtime::cuda
