#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// A prepared call on stacks of matrices. Operand 0 is [batch, rows, columns]; the other operands
/// and the results have the same batch.
class MatrixCall : public PreparedCall {
 public:
  /// There is no work if there is no matrix.
  bool is_empty() const { return batch_ == 0; }

  /// If the matrices of operand 0 have no elements, sets the statuses to 0 and calls set_empty.
  Outcome enqueue(const CallBuffers& frame) const final {
    if (rows_ == 0 || columns_ == 0) {
      set_empty(frame);
      if (statuses_) {
        fill(result(*statuses_, frame), 0, static_cast<std::size_t>(batch_) * sizeof(std::int32_t),
             frame.stream());
      }
    } else {
      compute(frame);
    }
    return Outcome::enqueued;
  }

 protected:
  /// `statuses`: the number of the result that holds an i32 status for each matrix, if there is
  /// one.
  MatrixCall(const passes::CallStep& step, const ir::SymbolBindings& bindings,
             std::optional<std::size_t> statuses)
      : dtype_(step.operands[0].dtype),
        rows_(step.values.size("rows").evaluate(bindings)),
        columns_(step.values.size("columns").evaluate(bindings)),
        batch_(step.values.size("batch").evaluate(bindings)),
        operands_(step.operands),
        results_(step.results),
        statuses_(statuses) {}

  /// Enqueues the work. The matrices have elements.
  virtual void compute(const CallBuffers& frame) const = 0;
  /// Sets results that have elements even if the matrices have none.
  virtual void set_empty(const CallBuffers&) const {}

  void* result(std::size_t number, const CallBuffers& frame) const {
    return frame.address(results_[number].buffer);
  }
  std::int32_t* integers(std::size_t number, const CallBuffers& frame) const {
    return static_cast<std::int32_t*>(result(number, frame));
  }
  const void* operand(std::size_t number, const CallBuffers& frame) const {
    return frame.address(operands_[number].buffer);
  }
  /// The bytes of a stack of matrices with the dtype of operand 0.
  std::size_t stack_bytes(std::int64_t rows, std::int64_t columns) const {
    return static_cast<std::size_t>(rows * columns * batch_) * size_of(dtype_);
  }
  /// The memory of a result, which holds the elements of an operand of `bytes`: they are copied,
  /// unless they are there already.
  void* operand_in_result(std::size_t number, std::size_t of_operand, std::size_t bytes,
                          const CallBuffers& frame) const {
    void* const to = result(number, frame);
    copy_operand(of_operand, to, bytes, frame);
    return to;
  }
  void copy_operand(std::size_t number, void* to, std::size_t bytes,
                    const CallBuffers& frame) const {
    const void* const from = operand(number, frame);
    const Device device = frame.stream().device();
    if (from != to) copy(to, device, from, device, bytes, frame.stream());
  }

  DType dtype_;
  std::int64_t rows_, columns_, batch_;

 private:
  std::vector<passes::CallBuffer> operands_, results_;
  std::optional<std::size_t> statuses_;
};

/// Prepares calls by objects of a subclass of MatrixCall.
template <class Prepared>
class MatrixCallHandler final : public CallHandler {
 public:
  CallWork prepare(const passes::CallStep& step, const CallContext& context) const override {
    auto prepared = std::make_unique<const Prepared>(step, context.bindings);
    if (prepared->is_empty()) return CallWork();
    return prepared;
  }
};

}  // namespace heddle::runtime
