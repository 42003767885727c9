#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/module.h"
#include "runtime/launch/launcher.h"

namespace heddle::runtime::cuda {

/// Launches the kernels of a program on a GPU.
class CudaLauncher final : public KernelLauncher {
 public:
  CudaLauncher(const ProgramImage& image, int ordinal);

  void launch(const passes::KernelStep& step, std::int64_t blocks, const KernelArguments& arguments,
              const Stream& stream) override;
  bool can_make_graph(const Schedule& schedule) const override;
  std::unique_ptr<ProgramGraph> make_graph(const Schedule& schedule, BufferRef arena,
                                           EnqueueCall enqueue_call) const override;

  /// The launch as parameters of a graph node, without its arguments. Throws DeviceError.
  KernelNodeParams node_params(const passes::KernelStep& step, std::int64_t blocks) const;

 private:
  unsigned block_count(const passes::KernelStep& step, std::int64_t blocks) const;
  void launch_cluster(const passes::KernelStep& step, unsigned blocks, void** pointers,
                      const Stream& stream) const;
  void allow_cluster(std::uint32_t kernel, std::uint32_t blocks) const;
  void allow_shared_bytes(std::uint32_t kernel, std::uint32_t bytes) const;

  std::vector<std::string> names_;
  int ordinal_;
  std::vector<std::unique_ptr<CudaModule>> modules_;
  std::vector<FunctionHandle> functions_;
};

}  // namespace heddle::runtime::cuda
