#pragma once

#include <algorithm>
#include <vector>

#include "ir/types/constant.h"
#include "runtime/calls/matrix_call.h"

namespace heddle::runtime {

/// A singular value decomposition. Results: u, s, vh and the statuses.
class PreparedSvd : public MatrixCall {
 public:
  PreparedSvd(const passes::CallStep& step, const ir::SymbolBindings& bindings)
      : MatrixCall(step, bindings, 3), full_(step.values.flag("full_matrices")) {}

 protected:
  bool full_;

 private:
  /// Square factors of matrices without elements are identities.
  void set_empty(const CallBuffers& frame) const final {
    if (!full_) return;
    set_identities(result(0, frame), rows_, frame);
    set_identities(result(2, frame), columns_, frame);
  }
  void set_identities(void* to, std::int64_t n, const CallBuffers& frame) const {
    const std::size_t bytes = stack_bytes(n, n), size = size_of(dtype_);
    if (bytes == 0) return;
    std::vector<std::byte> elements(bytes);
    const ir::ElementBits one = ir::constant_bits(dtype_, 1);
    for (std::int64_t i = 0; i < batch_ * n; ++i)
      std::copy_n(reinterpret_cast<const std::byte*>(one.bytes()), size,
                  &elements[static_cast<std::size_t>(i * n + i % n) * size]);
    copy(to, frame.stream().device(), elements.data(), Device{}, bytes, frame.stream());
  }
};

}  // namespace heddle::runtime
