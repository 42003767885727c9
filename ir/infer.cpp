#include "ir/infer/call.h"

namespace heddle::ir {
namespace {

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
    case OpKind::library:
      return infer_matmul(call);
    case OpKind::sorting:
      return infer_sort(call);
    case OpKind::search:
      return infer_search(call);
  }
  throw InternalError(fmt::format("{} has no type rule", info(call.op).name));
}

}  // namespace

Type infer(Op op, std::span<const Type> operands, const Attributes& attributes,
           std::vector<Requirement>* open) {
  const Call call{op, operands, attributes, open};
  const int arity = info(op).arity;
  if (arity >= 0 && operands.size() != static_cast<std::size_t>(arity)) {
    fail<ValueError>(call, "takes {} operands, not {}", arity, operands.size());
  }
  Type result = infer_by_kind(call);
  check_result(call, result);
  return result;
}

}  // namespace heddle::ir
