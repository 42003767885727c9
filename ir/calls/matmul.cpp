#include <array>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/infer/call.h"
#include "ir/interpreter/functions.h"
#include "ir/interpreter/host_array.h"

namespace heddle::ir {

namespace {

std::vector<Type> infer_matmul(const Call& call) {
  const DType dtype = common_dtype(call, 0, 2);
  const Precision precision = precision_of(*call.attributes.call);
  if (precision != Precision::ieee && !has_precisions(dtype)) {
    fail<DTypeError>(call, "precision {} is available for float32 and complex64 only",
                     name_of(precision));
  }
  const Shape &a = call.operand(0).shape, &b = call.operand(1).shape;
  if (a.size() < 2 || b.size() < 2) {
    fail<ShapeError>(call,
                     "operands need at least 2 dimensions; reshape a vector to [1,n] or [n,1]");
  }
  const Dim depth_a = a.back(), depth_b = b[b.size() - 2];
  if (depth_a != depth_b) {
    fail<ShapeError>(call,
                     "the last axis of the first operand has extent {}, the second-to-last axis of "
                     "the second has extent {}; they must be equal",
                     depth_a.to_string(), depth_b.to_string());
  }
  Type result{dtype, broadcast(call, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2))};
  result.shape.push_back(a[a.size() - 2]);
  result.shape.push_back(b.back());
  return {std::move(result)};
}

std::vector<HostArray> interpret_matmul(const CallArguments& arguments) {
  const Type& type = arguments.results[0];
  const std::size_t rank = type.shape.size();
  const auto whole = [&](const HostArray& operand) {
    Shape shape(type.shape.begin(), type.shape.end() - 2);
    shape.insert(shape.end(), operand.type.shape.end() - 2, operand.type.shape.end());
    return interpreter::broadcast(operand, shape);
  };
  const HostArray left = whole(*arguments.operands[0]), right = whole(*arguments.operands[1]);
  HostArray result = interpreter::allocate(type);
  const auto m = static_cast<std::size_t>(type.shape[rank - 2].constant());
  const auto n = static_cast<std::size_t>(type.shape[rank - 1].constant());
  const auto k = static_cast<std::size_t>(left.type.shape.back().constant());
  const std::size_t batches = m * n == 0 ? 0 : interpreter::count_of(type) / (m * n);
  const auto multiply = interpreter::matmul_function(type.dtype);
  const std::size_t size = size_of(type.dtype);
  for (std::size_t i = 0; i < batches; ++i) {
    multiply(left.data.data() + i * m * k * size, right.data.data() + i * k * n * size,
             result.data.data() + i * m * n * size, m, k, n);
  }
  return {std::move(result)};
}

}  // namespace

Precision precision_of(const CallData& product) {
  return *precision_from_name(product.get<std::string>("precision"));
}

Attributes matmul_attributes(Precision precision) {
  static const auto& by_precision =
      *new std::array{call_attributes(calls::matmul(), {{"precision", std::string("ieee")}}),
                      call_attributes(calls::matmul(), {{"precision", std::string("tf32")}}),
                      call_attributes(calls::matmul(), {{"precision", std::string("bf16")}})};
  return by_precision[static_cast<std::size_t>(precision)];
}

namespace calls {

const CallOp& matmul() {
  static const CallOp& op = *new CallOp{.name = "matmul",
                                        .numpy = "numpy.matmul",
                                        .operands = 2,
                                        .dtypes = numbers,
                                        .attributes = {{.name = "precision",
                                                        .initial = std::string("ieee"),
                                                        .choices = {"ieee", "tf32", "bf16"}}},
                                        .infer = infer_matmul,
                                        .interpret = interpret_matmul,
                                        .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
