#include <cstdint>
#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/spectral.h"

namespace heddle::ir {

namespace {

using interpreter::complex_matrix;
using interpreter::ComplexMatrix;
using interpreter::Elements;
using interpreter::Singular;
using interpreter::StackItem;

std::vector<Type> infer_svd(const Call& call) {
  const Type& operand = matrices(call, 0);
  const Shape batch = batch_of(operand);
  const Dim m = operand.shape[operand.shape.size() - 2], n = operand.shape.back();
  const Dim k = smaller_extent(call, m, n);
  const bool full = call.attributes.call->get<bool>("full_matrices");
  return {stack_of(operand.dtype, batch, {m, full ? m : k}),
          stack_of(real_dtype(operand.dtype), batch, {k}),
          stack_of(operand.dtype, batch, {full ? n : k, n}), statuses_of(batch)};
}

std::vector<Type> infer_svd_jacobi(const Call& call) {
  const Type& operand = matrices(call, 0);
  const Shape batch = batch_of(operand);
  const Dim m = operand.shape[operand.shape.size() - 2], n = operand.shape.back();
  const Dim k = smaller_extent(call, m, n);
  const bool full = call.attributes.call->get<bool>("full_matrices");
  return {stack_of(operand.dtype, batch, {full ? m : k, m}),
          stack_of(real_dtype(operand.dtype), batch, {k}),
          stack_of(operand.dtype, batch, {full ? n : k, n}), statuses_of(batch)};
}

std::vector<Type> infer_svdvals(const Call& call) {
  const Type& operand = matrices(call, 0);
  const Shape batch = batch_of(operand);
  const Dim k = smaller_extent(call, operand.shape[operand.shape.size() - 2], operand.shape.back());
  return {stack_of(real_dtype(operand.dtype), batch, {k}), statuses_of(batch)};
}

enum class Wanted : std::uint8_t { values, vectors, conjugated_vectors };

template <class Wide>
void interpret_matrix(StackItem<Wide> item, bool full, Wanted wanted) {
  const bool vectors = wanted != Wanted::values;
  const ComplexMatrix a = complex_matrix(item.operand(0));
  const std::size_t status = vectors ? 3 : 1;
  const Elements elements = interpreter::kinds_of(a);
  if (!elements.finite()) {
    for (std::size_t i = 0; i < status; ++i) interpreter::store_nan(item, i);
    item.store_status(status, elements.nan ? interpreter::not_finite : 0);
    return;
  }
  const Singular made = interpreter::singular_decomposition(a, full);
  interpreter::store_values(item, vectors ? 1 : 0, made.values);
  if (vectors) {
    const bool conjugated = wanted == Wanted::conjugated_vectors;
    interpreter::store_complex(item, 0, conjugated ? conjugate_transpose(made.u) : made.u);
    interpreter::store_complex(item, 2, made.vh);
  }
  item.store_status(status, 0);
}

std::vector<HostArray> interpret_svd(const CallArguments& arguments) {
  const bool full = arguments.call.get<bool>("full_matrices");
  return interpreter::for_each_matrix(
      arguments, [&](auto item) { interpret_matrix(std::move(item), full, Wanted::vectors); });
}

std::vector<HostArray> interpret_svd_jacobi(const CallArguments& arguments) {
  const bool full = arguments.call.get<bool>("full_matrices");
  return interpreter::for_each_matrix(arguments, [&](auto item) {
    interpret_matrix(std::move(item), full, Wanted::conjugated_vectors);
  });
}

std::vector<HostArray> interpret_svdvals(const CallArguments& arguments) {
  return interpreter::for_each_matrix(
      arguments, [](auto item) { interpret_matrix(std::move(item), false, Wanted::values); });
}

}  // namespace

namespace calls {

const CallOp& svd() {
  static const CallOp& op = *new CallOp{.name = "linalg.svd",
                                        .numpy = "numpy.linalg.svd",
                                        .dtypes = lapack_dtypes,
                                        .attributes = {{.name = "full_matrices", .initial = true}},
                                        .infer = infer_svd,
                                        .interpret = interpret_svd,
                                        .core_axes = 2};
  return op;
}

const CallOp& svd_jacobi() {
  static const CallOp& op = *new CallOp{.name = "linalg.svd_jacobi",
                                        .numpy = "numpy.linalg.svd",
                                        .dtypes = lapack_dtypes,
                                        .attributes = {{.name = "full_matrices", .initial = true}},
                                        .infer = infer_svd_jacobi,
                                        .interpret = interpret_svd_jacobi,
                                        .core_axes = 2};
  return op;
}

const CallOp& svdvals() {
  static const CallOp& op = *new CallOp{.name = "linalg.svdvals",
                                        .numpy = "numpy.linalg.svdvals",
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_svdvals,
                                        .interpret = interpret_svdvals,
                                        .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
