#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

#include "ir/infer/infer.h"

namespace heddle::ir {

/// An op whose type is inferred. The functions below are the checks that several ops share.
struct Call {
  Op op;
  std::span<const Type> operands;
  const Attributes& attributes;
  std::vector<Requirement>* open;  ///< receives conditions that depend on symbols; may be null

  const Type& operand(std::size_t i) const { return operands[i]; }
  int rank() const { return static_cast<int>(operands[0].shape.size()); }
};

/// "add"; for a call, the name of its call op.
std::string_view name_of(const Call& call);
/// "add(f32[3], i32[3])"
std::string describe(const Call& call);

template <class E, class... Arguments>
[[noreturn]] void fail(const Call& call, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  throw E(describe(call) + ": " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

void check_allowed(const Call& call, DType dtype);
/// The dtype that operands [first, last) have in common. Throws DTypeError if they differ, or if
/// the op does not allow it.
DType common_dtype(const Call& call, std::size_t first, std::size_t last);
void require_dtype(const Call& call, std::size_t operand, DType dtype);

Shape broadcast(const Call& call, const Shape& a, const Shape& b);
/// Whether `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

bool is_certainly_negative(Dim dim);
/// Requires value >= 0. Throws if it is certainly negative; if symbols decide, appends a condition
/// that is checked at launch. `text` is the error message.
template <class Text>
void require(const Call& call, Requirement::Breach breach, Dim value, Dim unless_zero,
             const Text& text) {
  const bool is_broken = is_certainly_negative(value);
  if (!is_broken && (call.open == nullptr || value.is_non_negative())) return;
  Requirement requirement{value, unless_zero, breach, describe(call) + ": " + text(), {}};
  if (is_broken) requirement.raise(requirement.text);
  call.open->push_back(std::move(requirement));
}
/// Checks that hold for every array: rank, non-negative extents, and a size in bytes that fits 64
/// bits.
void check_result(const Call& call, const Type& type);

/// Throws IndexError for an axis outside [0, rank).
int checked_axis(const Call& call, std::int64_t axis, int rank);
/// The axis of an op that takes exactly one axis.
int single_axis(const Call& call, int rank);

Type infer_source(const Call& call);
Type infer_elementwise(const Call& call);
Type infer_view(const Call& call);
Type infer_piecewise(const Call& call);
Type infer_gather(const Call& call);
Type infer_scatter(const Call& call);
Type infer_reduction(const Call& call);
Type infer_scan(const Call& call);
Type infer_search(const Call& call);

}  // namespace heddle::ir
