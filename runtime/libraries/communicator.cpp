#include "runtime/libraries/communicator.h"

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"

namespace heddle::runtime {

namespace {

using Key = std::pair<std::string, std::string>;  ///< name, device

struct Registry {
  ir::Mutex mutex;
  std::map<Key, std::weak_ptr<Communicator>, std::less<>> communicators;
  std::atomic<bool> used{false};
};

/// Never destroyed: programs may run while the process exits.
Registry& registry() {
  static Registry& registry = *new Registry;
  return registry;
}

class HostCommunicator final : public Communicator {
 public:
  HostCommunicator(std::string name, int size, int rank,
                   std::function<void(const Exchange&)> function)
      : Communicator(std::move(name), size, rank, Device{}), function_(std::move(function)) {}

  bool reduces(DType dtype) const override {
    return dtype != DType::boolean && dtype != DType::f16 && dtype != DType::bf16;
  }
  void enqueue(const Exchange& exchange, const Stream&) override {
    check();
    function_(exchange);
  }
  void settle() override {}
  void abort() override { aborted_ = true; }
  void check() override {
    if (aborted_)
      throw CommunicationError(fmt::format("the communicator '{}' was aborted", name()));
  }

 private:
  std::function<void(const Exchange&)> function_;
  std::atomic<bool> aborted_{false};
};

/// Runs a collective of the CPU for the interpreter.
std::vector<ir::HostArray> interpret_exchange(const ir::CallArguments& arguments) {
  const ir::CallData& data = arguments.call;
  const ir::HostArray& x = *arguments.operands[0];
  ir::HostArray value = ir::interpreter::allocate(arguments.results[0]);
  ir::HostArray status = ir::interpreter::allocate(arguments.results[1]);
  std::memset(value.data.data(), 0, value.data.size());
  std::memset(status.data.data(), 0xff, status.data.size());
  const auto size = static_cast<int>(data.get<std::int64_t>("size"));
  Exchange exchange{.kind = ir::collective_kind(data.get<std::string>("kind")),
                    .from = x.data.data(),
                    .to = value.data.data(),
                    .count = ir::interpreter::count_of(x.type),
                    .dtype = x.type.dtype,
                    .operation = reduce_operation(data.get<std::string>("reduction")),
                    .root = static_cast<int>(data.get<std::int64_t>("root")),
                    .send_to = static_cast<int>(data.get<std::int64_t>("to")),
                    .receive_from = static_cast<int>(data.get<std::int64_t>("from"))};
  if (ir::takes_slices(exchange.kind)) exchange.count /= static_cast<std::size_t>(size);
  const Device device{};
  communicator_of(data.get<std::string>("communicator"), size, device)
      ->enqueue(exchange, Stream::current(device));
  std::vector<ir::HostArray> results;
  results.push_back(std::move(value));
  results.push_back(std::move(status));
  return results;
}

}  // namespace

ReduceOperation reduce_operation(std::string_view name) {
  constexpr std::array<std::string_view, 4> names = {"sum", "prod", "max", "min"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<ReduceOperation>(i);
  throw InternalError(fmt::format("there is no reduction '{}'", name));
}

std::shared_ptr<Communicator> host_communicator(std::string name, int size, int rank,
                                                std::function<void(const Exchange&)> function) {
  auto made = std::make_shared<HostCommunicator>(std::move(name), size, rank, std::move(function));
  ir::set_collective_interpreter(interpret_exchange);
  register_communicator(made);
  return made;
}

void register_communicator(const std::shared_ptr<Communicator>& communicator) {
  const std::lock_guard lock(registry().mutex);
  registry().communicators[{communicator->name(), to_string(communicator->device())}] =
      communicator;
  registry().used = true;
}

std::shared_ptr<Communicator> communicator_of(std::string_view name, int size, Device device) {
  std::shared_ptr<Communicator> found;
  {
    const std::lock_guard lock(registry().mutex);
    const auto entry = registry().communicators.find(Key(std::string(name), to_string(device)));
    if (entry != registry().communicators.end()) found = entry->second.lock();
  }
  if (found == nullptr) {
    throw CommunicationError(
        fmt::format("there is no communicator '{}' of {} in this process; create it with the same "
                    "name before the program runs",
                    name, to_string(device)));
  }
  if (found->size() != size) {
    throw CommunicationError(
        fmt::format("the communicator '{}' has {} processes, but the program was made for {}", name,
                    found->size(), size));
  }
  return found;
}

void settle_communication() {
  if (!registry().used.load(std::memory_order_relaxed)) return;
  std::vector<std::shared_ptr<Communicator>> all;
  {
    const std::lock_guard lock(registry().mutex);
    for (const auto& [key, communicator] : registry().communicators) {
      if (auto alive = communicator.lock()) all.push_back(std::move(alive));
    }
  }
  for (const std::shared_ptr<Communicator>& each : all) each->settle();
}

}  // namespace heddle::runtime
