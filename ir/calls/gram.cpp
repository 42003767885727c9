#include "ir/calls/gram.h"

#include "ir/calls/matrices.h"
#include "ir/infer/call.h"

namespace heddle::ir {

namespace {

std::vector<Type> infer_gram_parts(const Call& call) {
  const Type& operand = call.operand(0);
  check_allowed(call, operand.dtype);
  if (operand.shape.size() < 2)
    fail<ShapeError>(call, "the operand must have at least 2 dimensions");
  const auto parts = call.attributes.call->get<std::int64_t>("parts");
  if (parts < 1) fail<ValueError>(call, "there must be at least 1 part, not {}", parts);
  Type result{operand.dtype, batch_of(operand)};
  result.shape.emplace_back(parts);
  result.shape.push_back(operand.shape.back());
  result.shape.push_back(operand.shape.back());
  return {std::move(result)};
}

std::vector<HostArray> interpret_gram_parts(const CallArguments& arguments) {
  const auto parts = static_cast<std::size_t>(arguments.call.get<std::int64_t>("parts"));
  return interpreter::for_each_matrix(
      arguments, [&]<class Wide>(interpreter::StackItem<Wide> item) {
        const interpreter::Matrix<Wide> x = item.operand(0);
        const std::size_t m = x.columns();
        interpreter::Matrix<Wide> products(parts * m, m);
        for (std::size_t part = 0; part < parts; ++part) {
          for (std::size_t k = x.rows() * part / parts; k < x.rows() * (part + 1) / parts; ++k) {
            for (std::size_t i = 0; i < m; ++i) {
              for (std::size_t j = 0; j < m; ++j) {
                Wide& sum = products(part * m + i, j);
                sum = sum + x(k, i) * x(k, j);
              }
            }
          }
        }
        item.store(0, products);
      });
}

}  // namespace

namespace calls {

const CallOp& gram_parts() {
  static const CallOp& op =
      *new CallOp{.name = "linalg.gram_parts",
                  .numpy = "numpy.matmul",
                  .dtypes = parts_of_complexes,
                  .attributes = {{.name = "parts", .initial = std::int64_t{1}}},
                  .infer = infer_gram_parts,
                  .interpret = interpret_gram_parts,
                  .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
