#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/array.h"
#include "heddle/communication_error.h"

namespace heddle::runtime {
class Communicator;
}
namespace heddle::distributed {
struct Access;
}

namespace heddle {

/// The number of a group of processes: ncclUniqueId. One process makes it and gives it to the
/// others.
using CommunicatorId = std::array<char, 128>;

struct CommunicatorOptions {
  /// Traced programs refer to the communicator by its name. All processes use the same name.
  std::string name = "world";
  /// Seconds after which an exchange that is not done is a CommunicationError.
  double timeout = 600;
};

/// This process's membership in a group that exchanges arrays by NVIDIA's NCCL: ncclComm_t. Each
/// member has a GPU of its own; members are processes, or threads of one process. A handle: copies
/// are the same membership. Members must call the same functions in the same order.
class Communicator {
 public:
  /// A new group's number. Throws DeviceError without NCCL.
  static CommunicatorId new_id();
  /// NCCL's version, 22809 for 2.28.9. Throws DeviceError without NCCL.
  static int nccl_version();

  /// Joins a group as member `rank` of `size`, with the thread's current device. Returns once all
  /// members have come. Throws ValueError for a wrong rank, or a device that is not a GPU;
  /// CommunicationError if members do not come within the time-out; DeviceError without NCCL.
  Communicator(int size, const CommunicatorId& id, int rank,
               const CommunicatorOptions& options = {});
  /// Memberships with several devices, "cuda:0" and so on, one for each, in this order:
  /// ncclCommInitAll. Each is then used by a thread of its own, whose current device is that
  /// device. Throws as above.
  static std::vector<Communicator> of_devices(const std::vector<std::string>& devices,
                                              const CommunicatorOptions& options = {});

  int size() const;
  int rank() const;
  const std::string& name() const;
  /// "cuda:1"
  std::string device() const;
  /// Throws CommunicationError if an exchange has failed so far: ncclCommGetAsyncError.
  void check() const;
  /// Ends exchanges that are not done, on this process. Every later use throws CommunicationError.
  void abort() const;

 private:
  friend struct distributed::Access;
  explicit Communicator(std::shared_ptr<runtime::Communicator> communicator)
      : communicator_(std::move(communicator)) {}
  std::shared_ptr<runtime::Communicator> communicator_;
};

/// Exchanges among the members of a communicator. Each member calls the function with an array of
/// the same shape and dtype. Outside of traces, an exchange is enqueued at once, with what its
/// operand needs; inside, it is part of the program. Exchanges keep the order in which they were
/// recorded, and are made even if nobody uses the result. Throws TraceError in the body of a loop
/// or branch, and CommunicationError if an exchange fails or takes too long. The next wait throws
/// a failure that is noticed later.
namespace distributed {

/// numpy's add, multiply, minimum, maximum.
enum class Reduction : std::uint8_t { sum, prod, min, max };

/// The sum of all members' x, or another reduction: ncclAllReduce. For bool, sum is "or" and prod
/// is "and". float16 and bfloat16 are added as the library does. DTypeError for complex numbers,
/// unless it is a sum.
Array all_reduce(const Operand& x, const Communicator& communicator,
                 Reduction reduction = Reduction::sum);
/// The same for member `root`; the others get their own x: ncclReduce.
Array reduce(const Operand& x, const Communicator& communicator, int root = 0,
             Reduction reduction = Reduction::sum);
/// The root's x: ncclBroadcast.
Array broadcast(const Operand& x, const Communicator& communicator, int root = 0);
/// All members' x, stacked along a new first axis: ncclAllGather.
Array all_gather(const Operand& x, const Communicator& communicator);
/// The same for the root; others get zeros.
Array gather(const Operand& x, const Communicator& communicator, int root = 0);
/// Slice `rank` of the root's x, whose first extent is the number of members.
Array scatter(const Operand& x, const Communicator& communicator, int root = 0);
/// Slice `rank` of the sum of all x, whose first extent is the number of members:
/// ncclReduceScatter.
Array reduce_scatter(const Operand& x, const Communicator& communicator,
                     Reduction reduction = Reduction::sum);
/// Slice i is slice `rank` of the x of member i: the transpose of a matrix of slices.
Array all_to_all(const Operand& x, const Communicator& communicator);
/// Sends x to one member, and returns the x of another, at the same time. Without `from`, returns
/// zeros.
Array send_receive(const Operand& x, const Communicator& communicator, std::optional<int> to,
                   std::optional<int> from);
/// Sends x to one member, which calls receive(): ncclSend.
void send(const Operand& x, const Communicator& communicator, int to);
/// What one member sends to this one, an array of the shape and dtype of x: ncclRecv.
Array receive(const Operand& x, const Communicator& communicator, int from);
/// Returns once all members have called it. TraceError in a trace.
void barrier(const Communicator& communicator, SourceLocation where = SourceLocation::current());

}  // namespace distributed

}  // namespace heddle
