#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"
#include "ir/types/element.h"

// What call ops on stacks of matrices share: checks for `infer`, and a loop over the matrices of a
// stack for `interpret`, which computes in float64 or complex128.

namespace heddle::ir {

/// The dtypes that LAPACK computes in.
inline constexpr DTypeSet lapack_dtypes = parts_of_complexes | complexes;

/// Operand `operand`, which must be a stack of matrices, [..., m, n], of a dtype that the op
/// allows. Throws ShapeError, DTypeError.
const Type& matrices(const Call& call, std::size_t operand);
/// The same; the matrices must be square.
const Type& square_matrices(const Call& call, std::size_t operand);
/// The axes in front of the last `core_axes`.
Shape batch_of(const Type& type, std::size_t core_axes = 2);
/// Operand `operand`, which must have the dtype and the batch axes of operand 0. Throws DTypeError,
/// ShapeError.
const Type& same_stack(const Call& call, std::size_t operand, std::size_t core_axes = 2);
/// Throws ShapeError unless two extents are equal. `what` is the message, with both extents in it.
void require_equal(const Call& call, Dim a, Dim b, const char* first, const char* second);
/// min(m, n). Throws ShapeError if it depends on the values of symbols.
Dim smaller_extent(const Call& call, Dim m, Dim n);

/// [batch..., core...] of a dtype.
Type stack_of(DType dtype, Shape batch, std::initializer_list<Dim> core);
/// An i32 status for each matrix.
inline Type statuses_of(Shape batch) { return {DType::i32, std::move(batch)}; }

namespace interpreter {

/// The type in which elements of type T are computed.
template <class T>
using WideOf = std::conditional_t<heddle_scalar::is_complex<T>, heddle_scalar::complex128, double>;

using heddle_scalar::complex128;

inline double real_part(double x) { return x; }
inline double real_part(complex128 x) { return x.re; }
inline double conjugate_of(double x) { return x; }
inline complex128 conjugate_of(complex128 x) { return {x.re, -x.im}; }
inline double magnitude(double x) { return std::abs(x); }
inline double magnitude(complex128 x) { return std::hypot(x.re, x.im); }

/// A matrix in C order.
template <class Wide>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns, Wide value = Wide(0))
      : rows_(rows), columns_(columns), elements_(rows * columns, value) {}
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  Wide& operator()(std::size_t row, std::size_t column) {
    return elements_[row * columns_ + column];
  }
  Wide operator()(std::size_t row, std::size_t column) const {
    return elements_[row * columns_ + column];
  }
  Matrix transposed() const {
    Matrix made(columns_, rows_);
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t j = 0; j < columns_; ++j) made(j, i) = (*this)(i, j);
    }
    return made;
  }
  void swap_rows(std::size_t a, std::size_t b) {
    for (std::size_t j = 0; j < columns_; ++j) std::swap((*this)(a, j), (*this)(b, j));
  }

 private:
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<Wide> elements_;
};

/// One item of a call on stacks: a matrix of each operand and result. Wide is the type in which
/// operand 0 is computed.
template <class Wide>
class StackItem {
 public:
  StackItem(const CallArguments& arguments, std::vector<HostArray>& results, std::size_t batch_axes,
            std::size_t index)
      : call(arguments.call),
        arguments_(arguments),
        results_(results),
        batch_axes_(batch_axes),
        index_(index) {}

  /// An operand's matrix; a vector is a matrix of one row, a scalar 1 by 1.
  Matrix<Wide> operand(std::size_t number) const {
    const HostArray& array = *arguments_.operands[number];
    Matrix<Wide> made = unset(array.type);
    with_element(array.type.dtype, [&]<class T>(std::type_identity<T>) {
      const auto* const from = reinterpret_cast<const T*>(array.data.data()) + first(made);
      for_each(made,
               [&](std::size_t k, Wide& element) { element = heddle_scalar::cast<Wide>(from[k]); });
    });
    return made;
  }
  /// A matrix of a result's extents, 0.
  Matrix<Wide> result(std::size_t number) const { return unset(results_[number].type); }
  /// Writes a result, cast to its dtype.
  template <class Given>
  void store(std::size_t number, Matrix<Given> matrix) {
    HostArray& array = results_[number];
    with_element(array.type.dtype, [&]<class T>(std::type_identity<T>) {
      auto* const to = reinterpret_cast<T*>(array.data.data()) + first(matrix);
      for_each(matrix,
               [&](std::size_t k, Given& element) { to[k] = heddle_scalar::cast<T>(element); });
    });
  }
  /// Writes an i32 result of one element for each matrix.
  void store_status(std::size_t number, std::int32_t status) {
    std::memcpy(results_[number].data.data() + index_ * sizeof status, &status, sizeof status);
  }

  const CallData& call;

 private:
  Matrix<Wide> unset(const Type& type) const {
    const Shape& shape = type.shape;
    const std::size_t core = shape.size() - batch_axes_;
    const auto extent = [&](std::size_t from_end) {
      return core < from_end ? std::size_t{1}
                             : static_cast<std::size_t>(shape[shape.size() - from_end].constant());
    };
    return Matrix<Wide>(extent(2), extent(1));
  }
  template <class Of>
  std::size_t first(const Matrix<Of>& matrix) const {
    return index_ * matrix.rows() * matrix.columns();
  }
  template <class Of, class Function>
  static void for_each(Matrix<Of>& matrix, const Function& function) {
    for (std::size_t i = 0; i < matrix.rows(); ++i) {
      for (std::size_t j = 0; j < matrix.columns(); ++j)
        function(i * matrix.columns() + j, matrix(i, j));
    }
  }

  const CallArguments& arguments_;
  std::vector<HostArray>& results_;
  std::size_t batch_axes_, index_;
};

/// Calls function(item) with the StackItem of each item of operand 0, which has `core_axes` axes,
/// and returns the results.
template <class Function>
std::vector<HostArray> for_each_matrix(const CallArguments& arguments, const Function& function,
                                       std::size_t core_axes = 2) {
  std::vector<HostArray> results;
  for (const Type& type : arguments.results) results.push_back(allocate(type));
  const Type& type = arguments.operands[0]->type;
  const Shape batch = batch_of(type, core_axes);
  const std::size_t count = count_of({type.dtype, batch});
  const auto each = [&]<class Wide>(std::type_identity<Wide>) {
    for (std::size_t i = 0; i < count; ++i)
      function(StackItem<Wide>(arguments, results, batch.size(), i));
  };
  if (is_complex(type.dtype)) {
    each(std::type_identity<complex128>());
  } else {
    each(std::type_identity<double>());
  }
  return results;
}

}  // namespace interpreter

}  // namespace heddle::ir
