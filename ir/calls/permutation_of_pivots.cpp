#include <cstddef>
#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/matrices.h"

namespace heddle::ir {

namespace {

using interpreter::Matrix;

std::vector<Type> infer_permutation(const Call& call) {
  const Type& pivots = call.operand(0);
  check_allowed(call, pivots.dtype);
  if (pivots.shape.empty()) fail<ShapeError>(call, "the operand must have at least 1 dimension");
  return {pivots};
}

std::vector<HostArray> interpret_permutation(const CallArguments& arguments) {
  constexpr std::size_t core_axes = 1;
  return interpreter::for_each_matrix(
      arguments,
      [](auto item) {
        const auto pivots = item.operand(0);
        Matrix<double> order(pivots.columns(), 1);
        for (std::size_t i = 0; i < order.rows(); ++i) order(i, 0) = static_cast<double>(i);
        for (std::size_t i = 0; i < order.rows(); ++i) {
          const double pivot = interpreter::real_part(pivots(0, i));
          if (pivot >= 1 && pivot <= static_cast<double>(order.rows()))
            order.swap_rows(i, static_cast<std::size_t>(pivot) - 1);
        }
        item.store(0, order.transposed());
      },
      core_axes);
}

}  // namespace

namespace calls {

const CallOp& permutation_of_pivots() {
  static const CallOp& op = *new CallOp{.name = "linalg.permutation_of_pivots",
                                        .numpy = "",
                                        .dtypes = set_of(DType::i32),
                                        .infer = infer_permutation,
                                        .interpret = interpret_permutation,
                                        .core_axes = 1,
                                        .shared = {}};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
