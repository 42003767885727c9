#include <string>

#include <fmt/format.h>

#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/distributed/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "ir/calls/collective.h"

namespace heddle::distributed {

namespace {

using frontend::at;
using frontend::NodeRef;
using frontend::Trace;
using ir::CollectiveKind;

constexpr const char* name_of(Reduction reduction) {
  constexpr std::array names = {"sum", "prod", "min", "max"};
  return names[static_cast<std::size_t>(reduction)];
}

struct Request {
  CollectiveKind kind;
  std::optional<Reduction> reduction = {};
  int root = 0;
  std::optional<int> to = {}, from = {};
};

/// The status of the trace's last collective; null before the first.
NodeRef last_status(const Trace& trace) {
  for (std::size_t i = trace.checks().size(); i-- > 0;) {
    const NodeRef& status = trace.checks()[i].status;
    if (status->kind != frontend::Node::Kind::operation || status->op != ir::Op::result) continue;
    const NodeRef& call = status->operands()[0];
    if (call->op == ir::Op::call && call->attributes->call->op == &ir::calls::collective())
      return status;
  }
  return {};
}

void require_rank(const char* what, int rank, const runtime::Communicator& communicator,
                  const SourceLocation& where) {
  if (rank >= 0 && rank < communicator.size()) return;
  throw ValueError(at(fmt::format("{}: the communicator '{}' has {} members, and no rank {}", what,
                                  communicator.name(), communicator.size(), rank),
                      where));
}

/// The dtype in which members reduce: the dtype itself if the library has it.
DType carrier_of(DType dtype, const runtime::Communicator& communicator) {
  if (communicator.reduces(dtype)) return dtype;
  switch (dtype) {
    case DType::boolean:
      return DType::u8;
    case DType::i16:
      return DType::i32;
    case DType::u16:
      return DType::u32;
    default:
      return DType::f32;
  }
}

NodeRef exchange(const NodeRef& x, const runtime::Communicator& communicator,
                 const Request& request, const SourceLocation& where) {
  std::vector<NodeRef> operands = {x};
  Trace* const trace = Trace::current();
  if (trace != nullptr) {
    if (NodeRef status = last_status(*trace)) operands.push_back(std::move(status));
  }
  const auto rank = [](std::optional<int> of) {
    return static_cast<std::int64_t>(of.value_or(-1));
  };
  const std::vector<NodeRef> results = frontend::record_call(
      ir::calls::collective(), operands,
      {{"kind", std::string(ir::name_of(request.kind))},
       {"communicator", communicator.name()},
       {"size", static_cast<std::int64_t>(communicator.size())},
       {"reduction", std::string(name_of(request.reduction.value_or(Reduction::sum)))},
       {"root", static_cast<std::int64_t>(request.root)},
       {"to", rank(request.to)},
       {"from", rank(request.from)}},
      where);
  if (trace != nullptr) {
    // A status that a program returns is computed in every call, and so is the exchange.
    trace->add_check({results[1], std::make_shared<const std::function<std::string(std::int64_t)>>(
                                      [](std::int64_t) { return std::string(); })});
  } else {
    frontend::evaluate(results[0]);
  }
  return results[0];
}

Array collective(const Operand& x, const Communicator& communicator, Request request) {
  const SourceLocation where = x.where();
  const std::string what = fmt::format("distributed.{}", ir::name_of(request.kind));
  const runtime::Communicator& members = *Access::of(communicator);
  if (Trace::current() != nullptr && Trace::current()->is_region()) {
    throw TraceError(at(fmt::format("{}: the body of a loop or branch cannot exchange arrays; "
                                    "exchange them before or after it",
                                    what),
                        where));
  }
  if (Group::is_open()) {
    throw ValueError(at(fmt::format("{}: groups take exchanges of pointers only; end the group "
                                    "before arrays are exchanged",
                                    what),
                        where));
  }
  require_rank(what.c_str(), request.root, members, where);
  for (const std::optional<int>& rank : {request.to, request.from})
    if (rank) require_rank(what.c_str(), *rank, members, where);
  const NodeRef node = frontend::asarray_node(what, x);
  if (!request.reduction) return frontend::Access::make(exchange(node, members, request, where));
  const DType dtype = node->dtype;
  if (is_complex(dtype) && request.reduction != Reduction::sum) {
    throw DTypeError(at(
        fmt::format("{}: complex numbers can only be summed; reduce an all_gather instead", what),
        where));
  }
  if (dtype == DType::boolean) {
    const bool any = request.reduction == Reduction::sum || request.reduction == Reduction::max;
    request.reduction = any ? Reduction::max : Reduction::min;
  }
  const NodeRef carried = frontend::cast_to(node, carrier_of(dtype, members), where);
  const NodeRef result = exchange(carried, members, request, where);
  return frontend::Access::make(frontend::cast_to(result, dtype, where));
}

}  // namespace

Array all_reduce(const Operand& x, const Communicator& communicator, Reduction reduction) {
  return collective(x, communicator, {.kind = CollectiveKind::all_reduce, .reduction = reduction});
}

Array reduce(const Operand& x, const Communicator& communicator, int root, Reduction reduction) {
  return collective(x, communicator,
                    {.kind = CollectiveKind::reduce, .reduction = reduction, .root = root});
}

Array broadcast(const Operand& x, const Communicator& communicator, int root) {
  return collective(x, communicator, {.kind = CollectiveKind::broadcast, .root = root});
}

Array all_gather(const Operand& x, const Communicator& communicator) {
  return collective(x, communicator, {.kind = CollectiveKind::all_gather});
}

Array gather(const Operand& x, const Communicator& communicator, int root) {
  return collective(x, communicator, {.kind = CollectiveKind::gather, .root = root});
}

Array scatter(const Operand& x, const Communicator& communicator, int root) {
  return collective(x, communicator, {.kind = CollectiveKind::scatter, .root = root});
}

Array reduce_scatter(const Operand& x, const Communicator& communicator, Reduction reduction) {
  return collective(x, communicator,
                    {.kind = CollectiveKind::reduce_scatter, .reduction = reduction});
}

Array all_to_all(const Operand& x, const Communicator& communicator) {
  return collective(x, communicator, {.kind = CollectiveKind::all_to_all});
}

Array send_receive(const Operand& x, const Communicator& communicator, std::optional<int> to,
                   std::optional<int> from) {
  return collective(x, communicator, {.kind = CollectiveKind::exchange, .to = to, .from = from});
}

void send(const Operand& x, const Communicator& communicator, int to) {
  collective(x, communicator, {.kind = CollectiveKind::exchange, .to = to});
}

Array receive(const Operand& x, const Communicator& communicator, int from) {
  return collective(x, communicator, {.kind = CollectiveKind::exchange, .from = from});
}

void barrier(const Communicator& communicator, SourceLocation where) {
  if (Trace::current() != nullptr) frontend::value_in_trace("distributed.barrier", where);
  const runtime::DeviceScope scope(Access::of(communicator)->device());
  const Array all = all_reduce(Operand(std::int32_t{1}, where), communicator);
  frontend::raise_failures();
  runtime::Stream::current(Access::of(communicator)->device()).synchronize();
}

}  // namespace heddle::distributed
