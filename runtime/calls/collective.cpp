#include "runtime/calls/collective.h"

#include <string>

#include "runtime/libraries/communicator.h"

namespace heddle::runtime {

namespace {

class PreparedCollective final : public PreparedCall {
 public:
  PreparedCollective(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : from_(step.operands[0].buffer),
        to_(step.results[0].buffer),
        status_(step.results[1].buffer),
        communicator_(step.values.text("communicator")),
        size_(static_cast<int>(step.values.size("size").evaluate(bindings))) {
    const auto number = [&](const char* name) {
      return static_cast<int>(step.values.size(name).evaluate(bindings));
    };
    exchange_.kind = ir::collective_kind(step.values.text("kind"));
    exchange_.dtype = step.operands[0].dtype;
    exchange_.operation = reduce_operation(step.values.text("reduction"));
    exchange_.root = number("root");
    exchange_.send_to = number("to");
    exchange_.receive_from = number("from");
    elements_ = static_cast<std::size_t>(step.values.size("elements").evaluate(bindings));
    exchange_.count = elements_;
    if (ir::takes_slices(exchange_.kind)) exchange_.count /= static_cast<std::size_t>(size_);
  }

  Outcome enqueue(const CallBuffers& frame) const override {
    const Stream& stream = frame.stream();
    Exchange exchange = exchange_;
    exchange.from = frame.address(from_);
    exchange.to = frame.address(to_);
    if (size_ == 1) {
      alone(exchange, stream);
    } else {
      const auto communicator = communicator_of(communicator_, size_, stream.device());
      if (elements_ > 0) run(*communicator, exchange, stream);
    }
    fill(frame.address(status_), 0xff, sizeof(std::int64_t), stream);
    return Outcome::enqueued;
  }

 private:
  std::size_t bytes() const { return elements_ * size_of(exchange_.dtype); }

  void run(Communicator& communicator, Exchange exchange, const Stream& stream) const {
    using ir::CollectiveKind;
    const Device device = stream.device();
    const bool is_root = communicator.rank() == exchange_.root;
    if (exchange_.kind == CollectiveKind::gather && !is_root)
      fill(exchange.to, 0, bytes() * static_cast<std::size_t>(size_), stream);
    if (exchange_.kind == CollectiveKind::exchange && exchange_.receive_from < 0)
      fill(exchange.to, 0, bytes(), stream);
    communicator.enqueue(exchange, stream);
    if (exchange_.kind == CollectiveKind::reduce && !is_root && exchange.to != exchange.from)
      copy(exchange.to, device, exchange.from, device, bytes(), stream);
  }

  /// The only process exchanges with itself.
  void alone(const Exchange& exchange, const Stream& stream) const {
    const Device device = stream.device();
    if (elements_ == 0) return;
    if (exchange_.kind == ir::CollectiveKind::exchange && exchange_.receive_from < 0)
      fill(exchange.to, 0, bytes(), stream);
    else if (exchange.to != exchange.from)
      copy(exchange.to, device, exchange.from, device, bytes(), stream);
  }

  passes::BufferRef from_, to_, status_;
  std::string communicator_;
  int size_;
  std::size_t elements_ = 0;
  Exchange exchange_;
};

class CollectiveHandler final : public CallHandler {
 public:
  CallWork prepare(const passes::CallStep& step, const CallContext& context) const override {
    return std::make_unique<const PreparedCollective>(step, context.bindings);
  }
};

}  // namespace

const CallHandler& collective_handler() {
  static const CollectiveHandler handler;
  return handler;
}

}  // namespace heddle::runtime
