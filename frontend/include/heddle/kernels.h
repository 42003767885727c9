#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/array.h"

// Kernels from a user's text, after CuPy. They are recorded as operations: they fuse with what
// surrounds them, run on GPUs and CPUs, and are cached with the program.
//
// Parameters are declared as in "T x, raw float32 y": a dtype of NumPy, or a letter that stands for
// any dtype, and a name. Of a `raw` parameter the text reads elements itself, as y[i] or y[{i, j}];
// it also has size(), shape()[k], strides()[k] in bytes, and ndim. An output may be raw if it is
// the only one: the text then writes any of its elements. The text is C++17 with CUDA's scalar
// functions. Of its own it may use: i, the number of the element in C order; n, the number of
// elements; `_ind.size()`. Types are those of CUDA; float16, bfloat16 and complex<T> have
// operators. Names that begin with _ are reserved.
//
// Errors: ValueError for parameters that cannot be parsed, DTypeError for arrays of other dtypes
// than declared, ShapeError for shapes that do not broadcast; and when the program is compiled,
// CompileError with the line of the user's text.

namespace heddle {

namespace frontend {
class KernelDeclaration;
}

/// Text around the operation of a kernel.
struct KernelText {
  std::string preamble = {};    ///< before the function: functions, types, #include
  std::string loop_prep = {};   ///< in the function, before the operation
  std::string after_loop = {};  ///< in the function, after it
};

/// How an elementwise kernel is called.
struct KernelCall {
  /// The number of elements; required if no array that is not raw has one, and only then allowed.
  std::optional<std::int64_t> size = {};
  /// What the outputs hold before the kernel runs, if the operation may leave elements as they are.
  /// The inputs broadcast to their shape, and their dtypes bind letters first. Empty: zeros.
  std::span<const Array> initial = {};
};

/// cupy.ElementwiseKernel. The inputs broadcast.
///
///   const ElementwiseKernel squared("T x, T y", "T z", "z = (x - y) * (x - y)", "squared");
///   const Array z = squared({a, b});
class ElementwiseKernel {
 public:
  ElementwiseKernel(std::string_view in_params, std::string_view out_params,
                    std::string_view operation, std::string_view name = "kernel",
                    const KernelText& around = {});

  /// The only output; ValueError if there are several. Scalars take the parameter's dtype.
  Array operator()(std::initializer_list<Operand> inputs, const KernelCall& call = {}) const;
  /// All outputs.
  std::vector<Array> outputs(std::span<const Operand> inputs, const KernelCall& call,
                             const SourceLocation& where) const;

  const std::string& name() const;
  int nin() const;
  int nout() const;

 private:
  std::shared_ptr<const frontend::KernelDeclaration> declaration_;
};

/// cupy.ReductionKernel: `map_expr` of the inputs' elements is combined by `reduce_expr` of a and
/// b, which must be associative and commutative; `post_map_expr` assigns the outputs from the
/// result a. a + b, a * b, a && b and a || b are Heddle's own reductions. Others are trees of
/// elementwise kernels.
///
///   const ReductionKernel norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm");
class ReductionKernel {
 public:
  /// `identity` is an expression, the result for no elements; if it is empty, those are a
  /// ValueError. `reduce_type`, a dtype, a letter or a type of C, is that of a and b; by default
  /// that of the first output. In `map_expr`, _J is the number of the element among those that are
  /// reduced. In `post_map_expr`, _in_ind.size() and _out_ind.size() are numbers of elements.
  ReductionKernel(std::string_view in_params, std::string_view out_params,
                  std::string_view map_expr, std::string_view reduce_expr,
                  std::string_view post_map_expr, std::string_view identity,
                  std::string_view name = "reduce_kernel", std::string_view reduce_type = "",
                  std::string_view preamble = "");

  /// The only output, as of NumPy's reductions. AxisError for an axis out of range. The extents of
  /// reduced axes are constants.
  Array operator()(std::initializer_list<Operand> inputs, const Axes& axes = {},
                   bool keepdims = false) const;
  /// All outputs. `bound` are arrays whose dtypes bind the outputs' letters; may be empty.
  std::vector<Array> outputs(std::span<const Operand> inputs, const Axes& axes, bool keepdims,
                             std::span<const Array> bound, const SourceLocation& where) const;

  const std::string& name() const;
  int nin() const;
  int nout() const;

 private:
  std::shared_ptr<const frontend::KernelDeclaration> declaration_;
  std::string map_, reduce_, post_map_, identity_, reduce_type_;
};

}  // namespace heddle
