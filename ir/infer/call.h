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

/// An op to infer the type of, and the checks that ops have in common.
struct Call {
  Op op;
  std::span<const Type> operands;
  const Attributes& attributes;
  std::vector<Requirement>* open;  ///< conditions that symbols decide; null: not wanted

  const Type& operand(std::size_t i) const { return operands[i]; }
  int rank() const { return static_cast<int>(operands[0].shape.size()); }
};

/// "add", or of a call its op's name.
std::string_view name_of(const Call& call);
/// "add(f32[3], i32[3])"
std::string describe(const Call& call);

template <class E, class... Arguments>
[[noreturn]] void fail(const Call& call, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
  throw E(describe(call) + ": " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

void check_allowed(const Call& call, DType dtype);
/// The one dtype of operands [first, last), allowed for the op.
DType common_dtype(const Call& call, std::size_t first, std::size_t last);
void require_dtype(const Call& call, std::size_t operand, DType dtype);

Shape broadcast(const Call& call, const Shape& a, const Shape& b);
/// Whether `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

bool is_certainly_negative(Dim dim);
/// Requires `value` not to be negative: at once where that can be told, else at the launch. `text`
/// says what is wrong otherwise.
template <class Text>
void require(const Call& call, Requirement::Breach breach, Dim value, Dim unless_zero,
             const Text& text) {
  const bool is_broken = is_certainly_negative(value);
  if (!is_broken && (call.open == nullptr || value.is_non_negative())) return;
  Requirement requirement{value, unless_zero, breach, describe(call) + ": " + text(), {}};
  if (is_broken) requirement.raise(requirement.text);
  call.open->push_back(std::move(requirement));
}
/// What holds for every array: rank, extents, and a size in bytes that fits 64 bits.
void check_result(const Call& call, const Type& type);

/// Throws IndexError for an axis outside [0, rank).
int checked_axis(const Call& call, std::int64_t axis, int rank);
/// The axis of an op that takes exactly one.
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
