// Singular values and eigenvalues as each target lowers them, interpreted: the results must satisfy
// the equations that define them, also beside matrices that are not finite.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"
#include "ir/types/constant.h"
#include "passes/calls/lowering.h"
#include "tests/support/complex_matrices.h"
#include "tests/support/samples.h"

namespace heddle::test {
namespace {

using ir::Dim;
using ir::HostArray;
using ir::Shape;

/// Element `k` of an array of a LAPACK dtype.
Complex element(const HostArray& array, std::size_t k) {
  const auto part = [&](std::size_t index) {
    if (size_of(real_dtype(array.type.dtype)) == sizeof(double)) {
      double value = 0;
      std::memcpy(&value, &array.data[index * sizeof value], sizeof value);
      return value;
    }
    float value = 0;
    std::memcpy(&value, &array.data[index * sizeof value], sizeof value);
    return static_cast<double>(value);
  };
  return is_complex(array.type.dtype) ? Complex(part(2 * k), part(2 * k + 1)) : Complex(part(k));
}

/// Matrix number `item` of a stack with `core` axes for each.
Matrix matrix(const HostArray& array, std::size_t item, std::size_t core = 2) {
  const Shape& shape = array.type.shape;
  Matrix made{1, static_cast<std::size_t>(shape.back().constant()), {}};
  if (core == 2) made.rows = static_cast<std::size_t>(shape[shape.size() - 2].constant());
  for (std::size_t k = 0; k < made.rows * made.columns; ++k)
    made.elements.push_back(element(array, item * made.rows * made.columns + k));
  return made;
}

bool is_nan(const Matrix& a) {
  for (const Complex& x : a.elements) {
    if (!std::isnan(x.real())) return false;
  }
  return true;
}

std::int32_t status(const HostArray& array, std::size_t item) {
  std::int32_t value = 0;
  std::memcpy(&value, &array.data[item * sizeof value], sizeof value);
  return value;
}

/// Writes to the real part of an element.
void set(HostArray& array, std::size_t k, double to) {
  const ir::ElementBits bits = ir::constant_bits(array.type.dtype, to);
  std::memcpy(&array.data[k * size_of(array.type.dtype)], bits.bytes(), size_of(array.type.dtype));
}

const char* const targets[] = {"sm_90:h200", "x86-64-v3"};

/// The results of a call as a target has it.
std::vector<HostArray> run(const ir::CallOp& op, const HostArray& operand, const char* target,
                           std::initializer_list<ir::NamedAttribute> attributes = {}) {
  ir::Graph graph;
  const ir::ValueId a = graph.parameter(operand.type.dtype, operand.type.shape);
  const ir::ValueId call = graph.call(op, {a}, attributes);
  graph.outputs.push_back(call);
  for (std::size_t i = 1; i < graph.result_types(call).size(); ++i)
    graph.outputs.push_back(graph.result(call, i));
  const ir::Graph lowered = passes::lower_calls(graph, ir::parse_target(target));
  std::vector<HostArray> inputs{operand};
  return ir::interpret(lowered, inputs);
}

double tolerance(DType dtype) { return real_dtype(dtype) == DType::f32 ? 1e-4 : 1e-11; }

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr DType dtypes[] = {DType::f32, DType::f64, DType::c64, DType::c128};

/// The statuses of three matrices of which number 1 has NaN and number 2 an infinity.
void check_statuses(const HostArray& statuses, std::int32_t for_nan, std::int32_t for_infinity) {
  CHECK(status(statuses, 0) == 0);
  CHECK(status(statuses, 1) == for_nan);
  CHECK(status(statuses, 2) == for_infinity);
}

}  // namespace

TEST_CASE("singular value decompositions, as each target lowers them") {
  for (const char* const target : targets) {
    for (const DType dtype : dtypes) {
      for (const bool full : {false, true}) {
        for (const Shape& shape :
             {Shape{3, 4, 4}, Shape{3, 6, 3}, Shape{3, 3, 6}, Shape{3, 40, 33}, Shape{3, 33, 40},
              Shape{3, 1, 1}, Shape{3, 2, 1025}, Shape{3, 1025, 2}}) {
          if (full && std::max(shape[1].constant(), shape[2].constant()) > 1000) continue;
          CAPTURE(target);
          CAPTURE(to_string(ir::Type{dtype, shape}));
          CAPTURE(full);
          HostArray a = moderate_sample(dtype, shape, 1);
          const auto size = static_cast<std::size_t>((shape[1] * shape[2]).constant());
          set(a, size, nan);
          set(a, 2 * size, infinity);
          const auto results = run(ir::calls::svd(), a, target, {{"full_matrices", full}});
          const Matrix u = matrix(results[0], 0), s = matrix(results[1], 0, 1);
          const Matrix vh = matrix(results[2], 0), given = matrix(a, 0);
          const auto alone = run(ir::calls::svdvals(), a, target);
          const Matrix values = matrix(alone[0], 0, 1);
          const double scale = std::abs(s(0, 0)) + 1;
          CHECK(distance(values, s) < tolerance(dtype) * scale);
          const Matrix rebuilt =
              scaled_columns(columns(u, s.columns), s) * adjoint(columns(adjoint(vh), s.columns));
          CHECK(distance(rebuilt, given) < tolerance(dtype) * scale);
          CHECK(distance(adjoint(u) * u, identity(u.columns)) < tolerance(dtype));
          CHECK(distance(vh * adjoint(vh), identity(vh.rows)) < tolerance(dtype));
          for (const std::size_t item : {1, 2}) {
            CHECK(is_nan(matrix(results[0], item)));
            CHECK(is_nan(matrix(results[1], item, 1)));
            CHECK(is_nan(matrix(results[2], item)));
          }
          check_statuses(results[3], -4, 0);
          check_statuses(alone[1], -4, 0);
        }
      }
    }
  }
}

TEST_CASE("eigenvalues of Hermitian matrices, as each target lowers them") {
  for (const char* const target : targets) {
    for (const DType dtype : dtypes) {
      for (const bool upper : {false, true}) {
        CAPTURE(target);
        CAPTURE(name_of(dtype));
        CAPTURE(upper);
        constexpr std::size_t n = 6;
        HostArray a = moderate_sample(dtype, {3, n, n}, 2);
        // The triangle that does not count has anything.
        const auto at = [&](std::size_t item, std::size_t row, std::size_t column) {
          return (item * n + (upper ? column : row)) * n + (upper ? row : column);
        };
        set(a, at(0, 1, 4), nan);
        set(a, at(1, 4, 1), nan);
        set(a, at(2, 5, 0), infinity);
        Matrix given = matrix(a, 0);
        for (std::size_t i = 0; i < n; ++i) {
          given.elements[i * n + i] = given(i, i).real();
          for (std::size_t j = 0; j < i; ++j) {
            if (upper)
              given.elements[i * n + j] = std::conj(given(j, i));
            else
              given.elements[j * n + i] = std::conj(given(i, j));
          }
        }
        const auto results = run(ir::calls::eigh(), a, target, {{"upper", upper}});
        const Matrix w = matrix(results[0], 0, 1), vectors = adjoint(matrix(results[1], 0));
        CHECK(distance(given * vectors, scaled_columns(vectors, w)) < 10 * tolerance(dtype));
        CHECK(distance(adjoint(vectors) * vectors, identity(n)) < tolerance(dtype));
        for (std::size_t i = 1; i < n; ++i) CHECK(w(0, i - 1).real() <= w(0, i).real());
        for (const std::size_t item : {1, 2}) {
          CHECK(is_nan(matrix(results[0], item, 1)));
          CHECK(is_nan(matrix(results[1], item)));
        }
        check_statuses(results[2], 0, 0);
        const auto values = run(ir::calls::eigvalsh(), a, target, {{"upper", upper}});
        CHECK(distance(matrix(values[0], 0, 1), w) < 10 * tolerance(dtype));
        check_statuses(values[1], -4, -4);
      }
    }
  }
}

TEST_CASE("eigenvalues of general matrices, as each target lowers them") {
  for (const char* const target : targets) {
    for (const DType dtype : dtypes) {
      CAPTURE(target);
      CAPTURE(name_of(dtype));
      constexpr std::size_t n = 7;
      HostArray a = moderate_sample(dtype, {3, n, n}, 3);
      set(a, n * n, nan);
      set(a, 2 * n * n, infinity);
      const auto results = run(ir::calls::eig(), a, target);
      const Matrix w = matrix(results[0], 0, 1);
      // The operand is the transpose, the results are rows.
      Matrix given{n, n, {}}, vectors{n, n, std::vector<Complex>(n * n)};
      const Matrix operand = matrix(a, 0), rows = matrix(results[1], 0);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) given.elements.push_back(operand(j, i));
      }
      for (std::size_t j = 0; j < n; ++j) {
        const bool pair = !is_complex(dtype) && w(0, j).imag() != 0;
        for (std::size_t i = 0; i < n; ++i) {
          const Complex second = pair ? Complex(0, 1) * rows(j + 1, i) : 0;
          vectors.elements[i * n + j] = rows(j, i) + second;
          if (pair) vectors.elements[i * n + j + 1] = rows(j, i) - second;
        }
        if (!pair) continue;
        CHECK(w(0, j).imag() > 0);
        CHECK(w(0, j + 1) == std::conj(w(0, j)));
        ++j;
      }
      CHECK(distance(given * vectors, scaled_columns(vectors, w)) < 10 * tolerance(dtype));
      const Matrix gram = adjoint(vectors) * vectors;
      for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(gram(i, i) - 1.0) < tolerance(dtype));
      for (const std::size_t item : {1, 2}) {
        CHECK(is_nan(matrix(results[0], item, 1)));
        CHECK(is_nan(matrix(results[1], item)));
      }
      check_statuses(results[2], -4, -4);
      const auto values = run(ir::calls::eigvals(), a, target);
      CHECK(distance(matrix(values[0], 0, 1), w) < tolerance(dtype));
      check_statuses(values[1], -4, -4);
    }
  }
}

TEST_CASE("a GPU is given matrices in the shape that its library takes") {
  ir::Target target = ir::parse_target("sm_90:h200");
  const auto calls = [&](const Shape& shape) {
    ir::Graph graph;
    const ir::ValueId a = graph.parameter(DType::f32, shape);
    graph.outputs.push_back(graph.call(ir::calls::svd(), {a}, {{"full_matrices", false}}));
    const ir::Graph lowered = passes::lower_calls(graph, target);
    std::string found;
    for (std::uint32_t i = 0; i < lowered.size(); ++i) {
      const ir::ValueId id{i};
      if (lowered.op(id) != ir::Op::call) continue;
      found += lowered.attributes(id).call->op->name;
      found += " " + to_string(lowered.type(lowered.operands(id)[0]));
      if (lowered.attributes(id).call->get<bool>("full_matrices")) found += " square";
    }
    return found;
  };
  CHECK(calls({64, 8, 32}) == "linalg.svd f32[64,8,32]");  // a kernel
  // Where a multiprocessor does not hold them, stacks of matrices up to 32 by 32 have square
  // factors.
  target.shared_bytes_per_block = 256;
  CHECK(calls({64, 8, 32}) == "linalg.svd_jacobi f32[64,8,32] square");
  CHECK(calls({64, 32, 8}) == "linalg.svd_jacobi f32[64,32,8] square");
  CHECK(calls({8, 32}) == "linalg.svd_jacobi f32[8,32]");
  CHECK(calls({32, 8}) == "linalg.svd_jacobi f32[32,8]");
  CHECK(calls({1, 8, 8}) == "linalg.svd_jacobi f32[1,8,8]");
  CHECK(calls({64, 33, 8}) == "linalg.svd_jacobi f32[64,33,8]");
  CHECK(calls({1024, 8}) == "linalg.svd_jacobi f32[1024,8]");
  CHECK(calls({1025, 8}) == "linalg.svd f32[8,1025]");
  CHECK(calls({2, 8, 1025}) == "linalg.svd f32[2,8,1025]");
  CHECK(calls({Dim::symbol("n"), 8, 9}) == "linalg.svd_jacobi f32[n,8,9] square");
  CHECK(calls({8, Dim::symbol("n") + Dim(8)}) == "linalg.svd f32[8,n+8]");
}

}  // namespace heddle::test
