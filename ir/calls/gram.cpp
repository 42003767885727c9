#include "ir/calls/gram.h"

#include "ir/calls/matrices.h"
#include "ir/infer/call.h"

namespace heddle::ir {

namespace {

std::vector<Type> infer_gram_parts(const Call& call) {
  if (call.operands.empty() || call.operands.size() > 2)
    fail<ValueError>(call, "there must be 1 or 2 operands, not {}", call.operands.size());
  const Type& left = matrices(call, 0);
  const Type& right = same_stack(call, call.operands.size() - 1);
  require_equal(call, left.shape[left.shape.size() - 2], right.shape[right.shape.size() - 2],
                "the rows of the first matrix", "of the second");
  const auto parts = call.attributes.call->get<std::int64_t>("parts");
  if (parts < 1) fail<ValueError>(call, "there must be at least 1 part, not {}", parts);
  return {
      stack_of(left.dtype, batch_of(left), {Dim(parts), left.shape.back(), right.shape.back()})};
}

std::vector<HostArray> interpret_gram_parts(const CallArguments& arguments) {
  const auto parts = static_cast<std::size_t>(arguments.call.get<std::int64_t>("parts"));
  return interpreter::for_each_matrix(
      arguments, [&]<class Wide>(interpreter::StackItem<Wide> item) {
        const interpreter::Matrix<Wide> x = item.operand(0);
        const interpreter::Matrix<Wide> y = item.operand(arguments.operands.size() - 1);
        const std::size_t m = x.columns(), n = y.columns();
        interpreter::Matrix<Wide> products(parts * m, n);
        for (std::size_t part = 0; part < parts; ++part) {
          for (std::size_t k = x.rows() * part / parts; k < x.rows() * (part + 1) / parts; ++k) {
            for (std::size_t i = 0; i < m; ++i) {
              for (std::size_t j = 0; j < n; ++j) {
                Wide& sum = products(part * m + i, j);
                sum = sum + x(k, i) * y(k, j);
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
                  .operands = any_number,
                  .dtypes = parts_of_complexes,
                  .attributes = {{.name = "parts", .initial = std::int64_t{1}}},
                  .infer = infer_gram_parts,
                  .interpret = interpret_gram_parts,
                  .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
