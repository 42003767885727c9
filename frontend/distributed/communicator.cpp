#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/distributed/access.h"
#include "runtime/cuda/libraries/nccl.h"
#include "runtime/device/backend.h"

namespace heddle {

using runtime::Device;

namespace {

std::shared_ptr<runtime::Communicator> joined(int size, const CommunicatorId& id, int rank,
                                              Device device, const CommunicatorOptions& options) {
  if (size < 1 || rank < 0 || rank >= size)
    throw ValueError(fmt::format("Communicator: there is no rank {} of {} members", rank, size));
  if (!(options.timeout > 0))
    throw ValueError(
        fmt::format("Communicator: the time-out must be positive, not {} s", options.timeout));
  if (!runtime::capabilities_of(device).asynchronous) {
    throw ValueError(
        fmt::format("Communicator: NCCL joins GPUs, but the current device is {}; in "
                    "Python, init_process_group(backend='mpi') joins CPUs",
                    to_string(device)));
  }
  return runtime::nccl::join({.name = options.name,
                              .size = size,
                              .rank = rank,
                              .device = device,
                              .id = id,
                              .timeout = options.timeout});
}

}  // namespace

CommunicatorId Communicator::new_id() { return runtime::nccl::unique_id(); }

int Communicator::nccl_version() { return runtime::nccl::version(); }

Communicator::Communicator(int size, const CommunicatorId& id, int rank,
                           const CommunicatorOptions& options)
    : communicator_(joined(size, id, rank, runtime::current_device(), options)) {}

std::vector<Communicator> Communicator::of_devices(const std::vector<std::string>& devices,
                                                   const CommunicatorOptions& options) {
  const CommunicatorId id = new_id();
  const int size = static_cast<int>(devices.size());
  std::vector<Communicator> made;
  distributed::Group group;
  for (int rank = 0; rank < size; ++rank) {
    const Device device = runtime::parse_device(devices[static_cast<std::size_t>(rank)]);
    runtime::require_device(device);
    made.push_back(Communicator(joined(size, id, rank, device, options)));
  }
  group.end();
  return made;
}

int Communicator::size() const { return communicator_->size(); }
int Communicator::rank() const { return communicator_->rank(); }
const std::string& Communicator::name() const { return communicator_->name(); }
std::string Communicator::device() const { return to_string(communicator_->device()); }
void Communicator::check() const { communicator_->check(); }
void Communicator::abort() const { communicator_->abort(); }

void distributed::Group::begin() { runtime::nccl::begin_group(); }
void distributed::Group::finish() { runtime::nccl::end_group(); }

distributed::Group::Group() { begin(); }

distributed::Group::~Group() {
  if (!open_) return;
  try {
    end();
  } catch (const Error&) {
    // The communicators keep their failures.
  }
}

bool distributed::Group::is_open() { return runtime::nccl::in_group(); }

void distributed::Group::end() {
  if (std::exchange(open_, false)) finish();
}

}  // namespace heddle
