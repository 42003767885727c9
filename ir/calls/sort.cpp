#include <algorithm>
#include <numeric>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"
#include "ir/types/element.h"

namespace heddle::ir {

namespace {

Type keys_of(const Call& call) {
  check_allowed(call, call.operand(0).dtype);
  checked_axis(call, call.attributes.call->get<std::int64_t>("axis"), call.rank());
  return call.operand(0);
}

std::vector<Type> infer_sort(const Call& call) { return {keys_of(call)}; }
std::vector<Type> infer_argsort(const Call& call) { return {{DType::i64, keys_of(call).shape}}; }

/// The permutation that moves `axis` to the end.
std::vector<std::int64_t> axis_last(std::size_t rank, std::int64_t axis) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  return order;
}

template <class T>
void sort_row(const T* from, T* to, std::int64_t length) {
  std::copy_n(from, length, to);
  std::stable_sort(to, to + length, heddle_scalar::precedes<T>);
}

template <class T>
void sort_row_indices(const T* from, std::int64_t* to, std::int64_t length) {
  std::iota(to, to + length, std::int64_t{0});
  std::stable_sort(to, to + length, [from](std::int64_t a, std::int64_t b) {
    return heddle_scalar::precedes(from[a], from[b]);
  });
}

/// Moves the axis to the end, calls `sort(from, to, length)` for every row, and moves the axis
/// back. Result is the element type of the result; void: that of the keys.
template <class Result, class Sort>
std::vector<HostArray> interpret_rows(const CallArguments& arguments, const Sort& sort) {
  const HostArray& keys = *arguments.operands[0];
  const std::vector<std::int64_t> order =
      axis_last(keys.type.shape.size(), arguments.call.get<std::int64_t>("axis"));
  std::vector<std::int64_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  const HostArray rows = interpreter::transpose(keys, order);
  HostArray sorted = interpreter::allocate({arguments.results[0].dtype, rows.type.shape});
  const std::int64_t length = rows.type.shape.back().constant();
  const auto count = static_cast<std::int64_t>(interpreter::count_of(rows.type));
  with_element(keys.type.dtype, [&]<class T>(std::type_identity<T>) {
    using To = std::conditional_t<std::is_void_v<Result>, T, Result>;
    const auto* const from = reinterpret_cast<const T*>(rows.data.data());
    auto* const to = reinterpret_cast<To*>(sorted.data.data());
    for (std::int64_t i = 0; i < count; i += length) sort(from + i, to + i, length);
  });
  return {interpreter::transpose(sorted, inverse)};
}

std::vector<HostArray> interpret_sort(const CallArguments& arguments) {
  return interpret_rows<void>(arguments, [](const auto* from, auto* to, std::int64_t length) {
    sort_row(from, to, length);
  });
}

std::vector<HostArray> interpret_argsort(const CallArguments& arguments) {
  return interpret_rows<std::int64_t>(arguments,
                                      [](const auto* from, std::int64_t* to, std::int64_t length) {
                                        sort_row_indices(from, to, length);
                                      });
}

std::vector<CallAttribute> axis_attribute() {
  return {{.name = "axis", .initial = std::int64_t{0}, .is_axis = true}};
}

}  // namespace

namespace calls {

const CallOp& sort() {
  static const CallOp& op = *new CallOp{.name = "sort",
                                        .numpy = "numpy.sort",
                                        .attributes = axis_attribute(),
                                        .infer = infer_sort,
                                        .interpret = interpret_sort};
  return op;
}

const CallOp& argsort() {
  static const CallOp& op = *new CallOp{.name = "argsort",
                                        .numpy = "numpy.argsort",
                                        .attributes = axis_attribute(),
                                        .infer = infer_argsort,
                                        .interpret = interpret_argsort};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir
