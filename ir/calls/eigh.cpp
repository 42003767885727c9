#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/spectral.h"

namespace heddle::ir {

namespace {

using interpreter::complex_matrix;
using interpreter::ComplexMatrix;
using interpreter::StackItem;

std::vector<Type> infer_eigh(const Call& call) {
  const Type& operand = square_matrices(call, 0);
  const Shape batch = batch_of(operand);
  return {stack_of(real_dtype(operand.dtype), batch, {operand.shape.back()}), operand,
          statuses_of(batch)};
}

std::vector<Type> infer_eigvalsh(const Call& call) {
  const Type& operand = square_matrices(call, 0);
  const Shape batch = batch_of(operand);
  return {stack_of(real_dtype(operand.dtype), batch, {operand.shape.back()}), statuses_of(batch)};
}

/// The Hermitian matrix of which one triangle is given. The diagonal counts as real.
ComplexMatrix hermitian(const ComplexMatrix& given, bool upper) {
  ComplexMatrix made(given.rows(), given.rows());
  for (std::size_t i = 0; i < given.rows(); ++i) {
    made(i, i) = given(i, i).real();
    for (std::size_t j = 0; j < i; ++j) {
      made(i, j) = upper ? std::conj(given(j, i)) : given(i, j);
      made(j, i) = std::conj(made(i, j));
    }
  }
  return made;
}

template <class Wide>
void interpret_matrix(StackItem<Wide> item, bool vectors) {
  const ComplexMatrix a =
      hermitian(complex_matrix(item.operand(0)), item.call.template get<bool>("upper"));
  const std::size_t status = vectors ? 2 : 1;
  if (!interpreter::kinds_of(a).finite()) {
    for (std::size_t i = 0; i < status; ++i) interpreter::store_nan(item, i);
    // As in NumPy, only eigvalsh fails.
    item.store_status(status, vectors ? 0 : interpreter::not_finite);
    return;
  }
  const interpreter::Eigen<double> made = interpreter::hermitian_eigen(a);
  interpreter::store_values(item, 0, made.values);
  if (vectors) interpreter::store_complex(item, 1, conjugate_transpose(made.vectors));
  item.store_status(status, 0);
}

std::vector<HostArray> interpret_eigh(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_matrix(std::move(item), true); });
}

std::vector<HostArray> interpret_eigvalsh(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_matrix(std::move(item), false); });
}

}  // namespace

namespace calls {

const CallOp& eigh() {
  static const CallOp& op = *new CallOp{.name = "linalg.eigh",
                                        .numpy = "numpy.linalg.eigh",
                                        .dtypes = lapack_dtypes,
                                        .attributes = {{.name = "upper", .initial = false}},
                                        .infer = infer_eigh,
                                        .interpret = interpret_eigh,
                                        .core_axes = 2,
                                        .shared = {{.result = 1, .operand = 0}}};
  return op;
}

const CallOp& eigvalsh() {
  static const CallOp& op = *new CallOp{.name = "linalg.eigvalsh",
                                        .numpy = "numpy.linalg.eigvalsh",
                                        .dtypes = lapack_dtypes,
                                        .attributes = {{.name = "upper", .initial = false}},
                                        .infer = infer_eigvalsh,
                                        .interpret = interpret_eigvalsh,
                                        .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
