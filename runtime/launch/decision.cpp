#include "runtime/launch/decision.h"

#include <array>

#include "runtime/device/backend.h"

namespace heddle::runtime {

namespace {

/// The value as the kernel's only array, and its scalars.
class DecisionBuffers final : public CallBuffers {
 public:
  DecisionBuffers(const CallBuffers& at, const std::byte* value,
                  const std::array<ir::ElementBits, 3>& scalars)
      : CallBuffers(at.stream()), at_(at), value_(value), scalars_(scalars) {}
  std::byte* address(const passes::BufferRef&) const override {
    return const_cast<std::byte*>(value_);  // which the kernel only reads
  }
  const ir::ElementBits& scalar(std::uint32_t input) const override { return scalars_[input]; }
  BufferRef allocate(std::size_t bytes, const Label& label) const override {
    return at_.allocate(bytes, label);
  }

 private:
  const CallBuffers& at_;
  const std::byte* value_;
  const std::array<ir::ElementBits, 3>& scalars_;
};

passes::Step kernel_of(const passes::CallStep& step) {
  if (step.kernels.empty()) return {};
  passes::KernelStep kernel = step.kernels.front();
  kernel.parameters.emplace_back().buffer = {passes::BufferRef::Kind::input, 0};
  for (std::uint32_t i = 0; i < 3; ++i) {
    passes::Parameter& scalar = kernel.parameters.emplace_back();
    scalar.kind = passes::Parameter::Kind::scalar;
    scalar.scalar = i;
  }
  return {std::move(kernel)};
}

}  // namespace

Decision::Decision(const passes::CallStep& step, const CallContext& context)
    : kernel_(kernel_of(step)) {
  if (step.kernels.empty()) return;
  conditions_ = backend_of(context.device).graph_conditions();
  list_.add(kernel_, 0, context);
}

void Decision::set(std::uint64_t condition, const std::byte* value, std::int64_t chosen,
                   std::int64_t last, const CallBuffers& at) const {
  const std::array<ir::ElementBits, 3> scalars = {
      ir::ElementBits(condition), ir::ElementBits(static_cast<std::uint64_t>(chosen)),
      ir::ElementBits(static_cast<std::uint64_t>(last))};
  const DecisionBuffers buffers(at, value, scalars);
  ArgumentSlots arguments(list_);
  arguments.set(list_, static_cast<const CallBuffers&>(buffers));
  at.run(list_, arguments, buffers);
}

}  // namespace heddle::runtime
