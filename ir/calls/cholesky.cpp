#include <cmath>
#include <limits>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"
#include "ir/types/element.h"

namespace heddle::ir {

namespace {

std::vector<Type> infer_cholesky(const Call& call) {
  const Type& matrices = call.operand(0);
  check_allowed(call, matrices.dtype);
  const std::size_t rank = matrices.shape.size();
  if (rank < 2)
    fail<ShapeError>(call, "takes matrices; the operand must have at least 2 dimensions");
  if (matrices.shape[rank - 1] != matrices.shape[rank - 2]) {
    fail<ShapeError>(call, "takes square matrices, not {} by {}",
                     matrices.shape[rank - 2].to_string(), matrices.shape[rank - 1].to_string());
  }
  return {matrices, {DType::i32, {matrices.shape.begin(), matrices.shape.end() - 2}}};
}

/// Converts to the precision in which factors are computed.
template <class T>
auto widened(T x) {
  if constexpr (heddle_scalar::is_complex<T>) {
    return heddle_scalar::cast<heddle_scalar::complex128>(x);
  } else {
    return heddle_scalar::cast<double>(x);
  }
}

double real_part(double x) { return x; }
double real_part(heddle_scalar::complex128 x) { return x.re; }
double conjugate_of(double x) { return x; }
heddle_scalar::complex128 conjugate_of(heddle_scalar::complex128 x) { return {x.re, -x.im}; }

/// Factorises an n by n matrix in place: `a` holds the lower triangle, then the lower factor.
/// Left-looking, column by column. Returns the order of the first leading minor that is not
/// positive, or 0.
template <class Wide>
std::int32_t factorize(std::vector<Wide>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double diagonal = real_part(a[j * n + j]);
    for (std::size_t k = 0; k < j; ++k)
      diagonal -= real_part(a[j * n + k] * conjugate_of(a[j * n + k]));
    if (!(diagonal > 0)) return static_cast<std::int32_t>(j + 1);
    const double root = std::sqrt(diagonal);
    a[j * n + j] = Wide(root);
    for (std::size_t i = j + 1; i < n; ++i) {
      Wide sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum = sum - a[i * n + k] * conjugate_of(a[j * n + k]);
      a[i * n + j] = sum * Wide(1 / root);
    }
  }
  return 0;
}

/// Factorises one matrix. The upper factor is the conjugate transpose of the lower one.
template <class T>
std::int32_t interpret_matrix(const T* matrix, T* factor, std::size_t n, bool upper) {
  using Wide = decltype(widened(T()));
  std::vector<Wide> a(n * n, Wide(0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      a[i * n + j] = upper ? conjugate_of(widened(matrix[j * n + i])) : widened(matrix[i * n + j]);
    }
  }
  const std::int32_t status = factorize(a, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const bool stored = upper ? i <= j : j <= i;
      Wide value(0);
      if (status != 0) {
        value = Wide(std::numeric_limits<double>::quiet_NaN());
      } else if (stored) {
        value = upper ? conjugate_of(a[j * n + i]) : a[i * n + j];
      }
      factor[i * n + j] = heddle_scalar::cast<T>(value);
    }
  }
  return status;
}

std::vector<HostArray> interpret_cholesky(const CallArguments& arguments) {
  const HostArray& matrices = *arguments.operands[0];
  HostArray factors = interpreter::allocate(arguments.results[0]);
  HostArray statuses = interpreter::allocate(arguments.results[1]);
  const auto n = static_cast<std::size_t>(matrices.type.shape.back().constant());
  const std::size_t batch = interpreter::count_of(arguments.results[1]);
  const bool upper = arguments.call.get<bool>("upper");
  auto* const status = reinterpret_cast<std::int32_t*>(statuses.data.data());
  with_element(matrices.type.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (heddle_scalar::is_complex<T> || std::is_floating_point_v<T>) {
      const auto* const from = reinterpret_cast<const T*>(matrices.data.data());
      auto* const to = reinterpret_cast<T*>(factors.data.data());
      for (std::size_t i = 0; i < batch; ++i)
        status[i] = interpret_matrix(from + i * n * n, to + i * n * n, n, upper);
    }
  });
  std::vector<HostArray> results;
  results.push_back(std::move(factors));
  results.push_back(std::move(statuses));
  return results;
}

}  // namespace

namespace calls {

const CallOp& cholesky() {
  static const CallOp& op = *new CallOp{.name = "linalg.cholesky",
                                        .numpy = "numpy.linalg.cholesky",
                                        .dtypes = parts_of_complexes | complexes,
                                        .attributes = {{.name = "upper", .initial = false}},
                                        .infer = infer_cholesky,
                                        .interpret = interpret_cholesky,
                                        .core_axes = 2,
                                        .shared = {{.result = 0, .operand = 0}}};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
