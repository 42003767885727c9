#include "ir/infer/call.h"

namespace heddle::ir {
namespace {

void check_operand_count(const Call& call, int expected) {
  if (expected >= 0 && call.operands.size() != static_cast<std::size_t>(expected))
    fail<ValueError>(call, "takes {} operands, not {}", expected, call.operands.size());
}

std::vector<Type> infer_call(const Call& call) {
  if (!call.attributes.call)
    throw InternalError(fmt::format("{} does not name the op that it calls", info(call.op).name));
  const CallData& data = *call.attributes.call;
  check_operand_count(call, data.op->operands);
  if (data.op->regions >= 0 && data.regions.size() != static_cast<std::size_t>(data.op->regions))
    fail<ValueError>(call, "takes {} regions, not {}", data.op->regions, data.regions.size());
  std::vector<Type> results = data.op->infer(call);
  for (const Type& result : results) check_result(call, result);
  return results;
}

Type infer_by_kind(const Call& call) {
  switch (info(call.op).kind) {
    case OpKind::source:
      return infer_source(call);
    case OpKind::elementwise:
      return infer_elementwise(call);
    case OpKind::view:
      return infer_view(call);
    case OpKind::piecewise:
      return infer_piecewise(call);
    case OpKind::gather:
      return infer_gather(call);
    case OpKind::scatter:
      return infer_scatter(call);
    case OpKind::reduction:
      return infer_reduction(call);
    case OpKind::scan:
      return infer_scan(call);
    case OpKind::search:
      return infer_search(call);
    case OpKind::call:
      break;
  }
  throw InternalError(fmt::format("{} has no type rule", info(call.op).name));
}

}  // namespace

Type infer(Op op, std::span<const Type> operands, const Attributes& attributes,
           std::vector<Requirement>* open) {
  const Call call{op, operands, attributes, open};
  if (op == Op::call) return infer_call(call).front();
  check_operand_count(call, info(op).arity);
  Type result = infer_by_kind(call);
  check_result(call, result);
  return result;
}

std::vector<Type> infer_results(std::span<const Type> operands, const Attributes& attributes,
                                std::vector<Requirement>* open) {
  return infer_call({Op::call, operands, attributes, open});
}

}  // namespace heddle::ir
