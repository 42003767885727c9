#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "heddle/communication_error.h"
#include "heddle/dtype.h"

#include "ir/calls/collective.h"
#include "runtime/device/stream.h"

/// Communicators: groups of processes (or of threads, each with a GPU of its own) that exchange
/// arrays.
namespace heddle::runtime {

/// Numbered as NCCL does.
enum class ReduceOperation : int { sum, prod, max, min };
/// Parses "sum" and so on. Throws InternalError for another name.
ReduceOperation reduce_operation(std::string_view name);

/// One exchange: a collective of ir::CollectiveKind, on contiguous arrays.
struct Exchange {
  ir::CollectiveKind kind{};
  const void* from = nullptr;  ///< null: this process sends nothing
  void* to = nullptr;          ///< null: this process receives nothing
  /// Elements that one process sends to one other: of x, or of a slice of x where the collective
  /// takes slices.
  std::size_t count = 0;
  DType dtype = DType::f32;
  ReduceOperation operation{};
  int root = 0;
  int send_to = -1, receive_from = -1;  ///< of CollectiveKind::exchange; negative: none
};

/// This process's membership in a group. All members must make the same exchanges in the same
/// order. Programs find it by its name and the device of their stream. Thread-safe.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int size() const { return size_; }
  int rank() const { return rank_; }
  Device device() const { return device_; }
  const std::string& name() const { return name_; }

  /// Whether it can reduce elements of this dtype. Those of others are cast before.
  virtual bool reduces(DType dtype) const = 0;
  /// Enqueues the exchange behind the stream's work. Throws CommunicationError if it is refused, if
  /// an earlier one failed or took too long, or after abort(); DeviceError in a capture.
  virtual void enqueue(const Exchange& exchange, const Stream& stream) = 0;
  /// Waits for what this thread has enqueued. Throws CommunicationError if it failed, or has taken
  /// longer than the time-out; the communicator is then aborted.
  virtual void settle() = 0;
  /// Ends the exchanges that are not done. Later ones throw.
  virtual void abort() = 0;
  /// Throws CommunicationError if an exchange has failed so far.
  virtual void check() = 0;

 protected:
  Communicator(std::string name, int size, int rank, Device device)
      : name_(std::move(name)), size_(size), rank_(rank), device_(device) {}

 private:
  const std::string name_;
  const int size_, rank_;
  const Device device_;
};

/// A communicator of the CPU, whose exchanges are made by a function. It returns when they are done
/// and reports failures by exceptions.
std::shared_ptr<Communicator> host_communicator(std::string name, int size, int rank,
                                                std::function<void(const Exchange&)> function);

/// Makes a communicator known to programs by its name, on its device; until it is destroyed, or
/// another takes its place.
void register_communicator(const std::shared_ptr<Communicator>& communicator);
/// The communicator with this name on a device. Throws CommunicationError if there is none, or if
/// its size is not `size`.
std::shared_ptr<Communicator> communicator_of(std::string_view name, int size, Device device);

/// Waits for the exchanges that this thread has enqueued. Called before the thread waits for a
/// device, so that a lost process is an error and not a wait without end. Throws
/// CommunicationError.
void settle_communication();

}  // namespace heddle::runtime
