#pragma once

#include <cstdint>
#include <memory>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// Copies the matrices to the result, unless they are already there, and factorises them in place.
class PreparedCholesky : public PreparedCall {
 public:
  PreparedCholesky(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : dtype_(step.operands[0].dtype),
        upper_(step.values.flag("upper")),
        n_(step.values.size("rows").evaluate(bindings)),
        batch_(step.values.size("batch").evaluate(bindings)),
        bytes_(static_cast<std::size_t>(n_ * n_ * batch_) * size_of(dtype_)),
        matrices_(step.operands[0].buffer),
        factors_(step.results[0].buffer),
        infos_(step.results[1].buffer) {}

  bool is_empty() const { return batch_ == 0; }

  Outcome enqueue(const CallBuffers& frame) const override {
    void* const factors = frame.address(factors_);
    const void* const matrices = frame.address(matrices_);
    const Device device = frame.stream().device();
    auto* const infos = reinterpret_cast<std::int32_t*>(frame.address(infos_));
    if (n_ == 0) {
      fill(infos, 0, static_cast<std::size_t>(batch_) * sizeof *infos, frame.stream());
      return Outcome::enqueued;
    }
    if (factors != matrices) copy(factors, device, matrices, device, bytes_, frame.stream());
    factorise(factors, infos, frame);
    return Outcome::enqueued;
  }

 protected:
  virtual void factorise(void* matrices, std::int32_t* infos, const CallBuffers& frame) const = 0;

  DType dtype_;
  bool upper_;
  std::int64_t n_, batch_;

 private:
  std::size_t bytes_;
  passes::BufferRef matrices_, factors_, infos_;
};

/// Prepares an object of a class that implements the factorisation.
template <class Prepared>
class CholeskyHandler final : public CallHandler {
 public:
  CallWork prepare(const passes::CallStep& step, const CallContext& context) const override {
    auto prepared = std::make_unique<const Prepared>(step, context.bindings);
    if (prepared->is_empty()) return CallWork();
    return prepared;
  }
};

}  // namespace heddle::runtime
