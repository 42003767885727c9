#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/spectral.h"

namespace heddle::ir {

namespace {

using interpreter::complex_matrix;
using interpreter::ComplexMatrix;
using interpreter::StackItem;

std::vector<Type> infer_eig(const Call& call) {
  const Type& operand = square_matrices(call, 0);
  const Shape batch = batch_of(operand);
  return {stack_of(complex_dtype(operand.dtype), batch, {operand.shape.back()}), operand,
          statuses_of(batch)};
}

std::vector<Type> infer_eigvals(const Call& call) {
  const Type& operand = square_matrices(call, 0);
  const Shape batch = batch_of(operand);
  return {stack_of(complex_dtype(operand.dtype), batch, {operand.shape.back()}),
          statuses_of(batch)};
}

/// Eigenvectors of a real matrix as LAPACK packs them: of a pair of conjugates the real part, then
/// the imaginary part of the first one.
void pack(ComplexMatrix& vectors, const std::vector<interpreter::Complex>& values) {
  for (std::size_t j = 0; j + 1 < values.size(); ++j) {
    if (values[j].imag() == 0) continue;
    for (std::size_t i = 0; i < vectors.rows(); ++i) {
      const interpreter::Complex element = vectors(i, j);
      vectors(i, j) = element.real();
      vectors(i, j + 1) = element.imag();
    }
    ++j;
  }
}

template <class Wide>
void interpret_matrix(StackItem<Wide> item, bool vectors) {
  const ComplexMatrix a = complex_matrix(item.operand(0).transposed());
  const std::size_t status = vectors ? 2 : 1;
  const auto fail = [&](std::int32_t how) {
    for (std::size_t i = 0; i < status; ++i) interpreter::store_nan(item, i);
    item.store_status(status, how);
  };
  if (!interpreter::kinds_of(a).finite()) return fail(interpreter::not_finite);
  const bool real = std::is_same_v<Wide, double>;
  interpreter::Eigen<interpreter::Complex> made = interpreter::general_eigen(a, real);
  if (made.failed != 0) return fail(made.failed);
  interpreter::store_values(item, 0, made.values);
  if (real) pack(made.vectors, made.values);
  if (vectors) interpreter::store_complex(item, 1, made.vectors.transposed());
  item.store_status(status, 0);
}

std::vector<HostArray> interpret_eig(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_matrix(std::move(item), true); });
}

std::vector<HostArray> interpret_eigvals(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_matrix(std::move(item), false); });
}

}  // namespace

namespace calls {

const CallOp& eig() {
  static const CallOp& op = *new CallOp{.name = "linalg.eig",
                                        .numpy = "numpy.linalg.eig",
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_eig,
                                        .interpret = interpret_eig,
                                        .core_axes = 2};
  return op;
}

const CallOp& eigvals() {
  static const CallOp& op = *new CallOp{.name = "linalg.eigvals",
                                        .numpy = "numpy.linalg.eigvals",
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_eigvals,
                                        .interpret = interpret_eigvals,
                                        .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
