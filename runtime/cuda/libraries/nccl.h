#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "runtime/libraries/communicator.h"

/// NVIDIA's NCCL: exchanges among GPUs, of one process or several.
namespace heddle::runtime::nccl {

/// Why NCCL is unavailable, with every location tried; empty if it is available. Loads it; never
/// throws.
const std::string& unavailable_reason();
/// 22809 for 2.28.9. Throws DeviceError if there is no NCCL.
int version();

/// The number of a group, which one process makes and gives to all others.
using UniqueId = std::array<char, 128>;
/// Throws DeviceError.
UniqueId unique_id();

struct Membership {
  std::string name;
  int size = 1, rank = 0;
  Device device;
  UniqueId id{};
  double timeout = 600;  ///< seconds
};
/// Joins a group; waits for all other members. Within a Group it waits at the group's end. Throws
/// CommunicationError if a member does not come within the time-out, DeviceError without NCCL.
std::shared_ptr<Communicator> join(const Membership& membership);

/// Makes the exchanges of this thread until end_group() one operation, which may be in any order.
/// Groups nest. Throw DeviceError, and CommunicationError as Communicator::enqueue.
void begin_group();
void end_group();
/// Whether a group of this thread is open.
bool in_group();

}  // namespace heddle::runtime::nccl
