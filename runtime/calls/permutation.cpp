#include "runtime/calls/permutation.h"

#include <numeric>
#include <utility>
#include <vector>

#include "heddle/error.h"

#include "runtime/calls/matrix_call.h"

namespace heddle::runtime {

namespace {

class PreparedPermutation final : public MatrixCall {
 public:
  PreparedPermutation(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, {}) {}

 private:
  void compute(const CallBuffers& frame) const override {
    const Stream& stream = frame.stream();
    if (stream.capturing()) {
      throw DeviceError(
          "the order of the rows of LU factors is computed by the host, which a CUDA graph cannot "
          "capture");
    }
    const std::size_t bytes = stack_bytes(1, columns_);
    const auto count = static_cast<std::size_t>(columns_ * batch_);
    std::vector<std::int32_t> pivots(count), order(count);
    copy(pivots.data(), Device{}, operand(0, frame), stream.device(), bytes, stream);
    for (std::int64_t i = 0; i < batch_; ++i)
      find_order(pivots.data() + i * columns_, order.data() + i * columns_);
    copy(result(0, frame), stream.device(), order.data(), Device{}, bytes, stream);
  }

  void find_order(const std::int32_t* pivots, std::int32_t* order) const {
    std::iota(order, order + columns_, 0);
    for (std::int64_t i = 0; i < columns_; ++i) {
      if (pivots[i] >= 1 && pivots[i] <= columns_) std::swap(order[i], order[pivots[i] - 1]);
    }
  }
};

}  // namespace

const CallHandler& permutation_handler() {
  static const MatrixCallHandler<PreparedPermutation> handler;
  return handler;
}

}  // namespace heddle::runtime
