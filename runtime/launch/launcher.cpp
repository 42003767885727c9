#include "runtime/launch/launcher.h"

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/base/statistics.h"
#include "runtime/device/backend.h"
#include "runtime/launch/program_graph.h"

namespace heddle::runtime {

std::unique_ptr<ProgramGraph> KernelLauncher::make_graph(const Schedule&, BufferRef,
                                                         EnqueueCall) const {
  throw InternalError("this device has no graphs");
}

void count_launch(const std::string& name) {
  if (fault::point(fault::Kind::launch))
    throw DeviceError("launch of " + name + " failed (injected fault)");
  statistics().kernel_launches.fetch_add(1, std::memory_order_relaxed);
}

std::unique_ptr<KernelLauncher> load_kernels(const ProgramImage& image, Device device) {
  return backend_of(device).load(image, device.ordinal);
}

}  // namespace heddle::runtime
