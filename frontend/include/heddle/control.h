#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.h"
#include "heddle/fields.h"

// Loops and branches as operations, after jax.lax. A body is called once, to record what a step
// does; the loop then runs without it. What goes from step to step is the carry: an Array, or a
// struct (HEDDLE_STRUCT), tuple or container of Arrays. Its plain values are constants of the loop.
//
// A body may use arrays from outside, which keep their values in all steps. It must return the
// carry with the dtypes and shapes that it came with (DTypeError, ShapeError, which name the first
// difference). Weak numbers take the carry's dtype. Reading a value in a body throws TraceError, as
// in jit. Random numbers are drawn before the loop. Where a linear algebra function fails in a
// body, its results are NaN, and the next wait throws LinAlgError.

namespace heddle {

namespace frontend {

using Values = std::vector<Array>;

struct Scanned {
  Values carries, stacked;
};
/// The functions below on flat lists. `names` are those of the carries, for errors.
struct ScanOptions {
  std::optional<std::int64_t> length = {};
  bool reverse = false;
  std::int64_t first = 0;  ///< added to the counter
  std::string_view op = "scan";
  std::string_view counter = "step";  ///< begins the name of the counter's symbol
  std::vector<std::string> names = {};
};
using ScanBody = std::function<Scanned(const Array& counter, Values carries, Values elements)>;
Scanned scan_values(const ScanBody& body, const Values& carries, const Values& sequences,
                    const ScanOptions& options, const SourceLocation& where);
Values while_values(const std::function<Array(Values)>& condition,
                    const std::function<Values(Values)>& body, const Values& carries,
                    const std::vector<std::string>& names, const SourceLocation& where);
Values switch_values(const Operand& index,
                     const std::vector<std::function<Values(Values)>>& branches,
                     const Values& operands, std::string_view op, const SourceLocation& where);
using AssociativeFunction = std::function<Values(Values left, Values right)>;
Values associative_values(const AssociativeFunction& function, const Values& elements, bool reverse,
                          std::int64_t axis, const std::vector<std::string>& names,
                          const SourceLocation& where);
/// The counter of a loop whose bounds are arrays, as a carry.
Array counter_of(const Operand& bound);

struct Gathering {
  Values& values;
  void array(const Array& array) { values.push_back(array); }
  void plain(const void*, std::size_t) {}
};
struct Scattering {
  const Values& values;
  std::size_t next = 0;
  void array(Array& array) { array = values.at(next++); }
  void plain(const void*, std::size_t) {}
};
/// The arrays of a structure, in order.
template <class T>
Values values_of(const T& tree) {
  Values values;
  Gathering gathering{values};
  visit_fields(tree, gathering);
  return values;
}
struct Emptying {
  Values& values;
  void array(Array& array) {
    values.push_back(std::move(array));
    array = Array();
  }
  void plain(const void*, std::size_t) {}
};
/// Moves the arrays of a body's result out. Keeps the rest as `structure`, which outlives the body.
template <class T>
Values take_values(T tree, std::optional<T>& structure) {
  Values values;
  Emptying emptying{values};
  visit_fields(tree, emptying);
  structure.emplace(std::move(tree));
  return values;
}
/// The structure with other arrays.
template <class T>
T with_values(T tree, const Values& values) {
  Scattering scattering{values};
  visit_fields(tree, scattering);
  return tree;
}

}  // namespace frontend

/// jax.lax.fori_loop: carry = body(i, carry) for i from `lower` up to `upper`, which is not
/// included. `i` is a 0-d int64 Array that combines with arrays like a plain number. Subscripts
/// that are i, or i and a constant by +, - and *, are as fast as constants: x(i), x.at(i) = v.
template <class Body, class Carry>
Carry fori_loop(std::int64_t lower, std::int64_t upper, Body&& body, const Carry& init,
                SourceLocation where = SourceLocation::current()) {
  const auto step = [&](const Array& i, frontend::Values carries, frontend::Values) {
    return frontend::Scanned{
        frontend::values_of(Carry(body(i, frontend::with_values(init, carries)))), {}};
  };
  const frontend::ScanOptions options{
      .length = upper > lower ? upper - lower : 0, .first = lower, .op = "fori_loop"};
  return frontend::with_values(
      init, frontend::scan_values(step, frontend::values_of(init), {}, options, where).carries);
}

/// jax.lax.while_loop: while condition(carry), a 0-d bool Array, is true, carry = body(carry). If
/// the condition is an array, each element takes steps until its own condition is false, and then
/// keeps its values; carries broadcast to the condition's shape (ShapeError if they do not). A loop
/// of elementwise functions runs inside one kernel. On a GPU, the host waits for the condition of
/// others in each step, until calls repeat: then the GPU decides (docs/guide/loops.md).
template <class Condition, class Body, class Carry>
  requires std::invocable<Condition&, Carry>
Carry while_loop(Condition&& condition, Body&& body, const Carry& init,
                 SourceLocation where = SourceLocation::current()) {
  const auto next = [&](frontend::Values carries) {
    return frontend::values_of(Carry(body(frontend::with_values(init, carries))));
  };
  const auto holds = [&](frontend::Values carries) -> Array {
    return condition(frontend::with_values(init, carries));
  };
  return frontend::with_values(
      init, frontend::while_values(holds, next, frontend::values_of(init), {}, where));
}

/// fori_loop() whose bounds are computed: 0-d arrays of integers. It runs as a while_loop().
template <class Body, class Carry>
Carry fori_loop(const Operand& lower, const Operand& upper, Body&& body, const Carry& init,
                SourceLocation where = SourceLocation::current()) {
  using State = std::tuple<Array, Carry>;
  const Array last = frontend::counter_of(upper);
  const auto inside = [&](const State& state) { return std::get<0>(state) < last; };
  const auto step = [&](const State& state) {
    const auto& [i, carry] = state;
    return State(i + 1, body(i, carry));
  };
  return std::get<1>(while_loop(inside, step, State(frontend::counter_of(lower), init), where));
}

/// jax.lax.scan: for each step k, (carry, y) = body(carry, x), where x has the elements k of the
/// arrays in `xs`, along their first axes. Returns the last carry, and the y of all steps along a
/// new first axis. `length` is needed where `xs` has no arrays. `reverse` starts with the last
/// element; y keeps its place. ShapeError if the first extents differ.
template <class Body, class Carry, class Xs>
auto scan(Body&& body, const Carry& init, const Xs& xs, std::optional<std::int64_t> length = {},
          bool reverse = false, SourceLocation where = SourceLocation::current()) {
  using Result = std::remove_cvref_t<std::invoke_result_t<Body&, Carry, Xs>>;
  using Y = std::remove_cvref_t<std::tuple_element_t<1, Result>>;
  std::optional<Y> structure;
  const auto step = [&](const Array&, frontend::Values carries, frontend::Values elements) {
    Result result = body(frontend::with_values(init, carries), frontend::with_values(xs, elements));
    return frontend::Scanned{frontend::values_of(Carry(std::get<0>(result))),
                             frontend::take_values<Y>(std::get<1>(result), structure)};
  };
  const frontend::ScanOptions options{.length = length, .reverse = reverse};
  const frontend::Scanned made = frontend::scan_values(step, frontend::values_of(init),
                                                       frontend::values_of(xs), options, where);
  return std::pair<Carry, Y>(frontend::with_values(init, made.carries),
                             frontend::with_values(*structure, made.stacked));
}

/// jax.lax.map: body(x) for each element of the arrays in `xs` along their first axes; the results
/// along a new first axis.
template <class Body, class Xs>
auto map(Body&& body, const Xs& xs, SourceLocation where = SourceLocation::current()) {
  const auto step = [&](std::tuple<>, const Xs& x) { return std::pair(std::tuple<>(), body(x)); };
  return scan(step, std::tuple<>(), xs, {}, false, where).second;
}

/// jax.lax.associative_scan: the cumulative results of `function` for the elements along an axis of
/// the arrays in `elems`: e0, function(e0, e1), function(function(e0, e1), e2) ... The function is
/// associative, and works on slices of any length along the axis: it is called with two structures
/// of slices about 2 log2(n) times, while recording, and returns one of the same dtypes and shapes
/// (DTypeError, ShapeError). `reverse` begins with the last element. The axis counts in the first
/// array (AxisError); ShapeError if extents along it differ, or are symbolic.
template <class Function, class T>
T associative_scan(Function&& function, const T& elems, bool reverse = false, std::int64_t axis = 0,
                   SourceLocation where = SourceLocation::current()) {
  const auto combine = [&](const frontend::Values& left, const frontend::Values& right) {
    return frontend::values_of(
        T(function(frontend::with_values(elems, left), frontend::with_values(elems, right))));
  };
  return frontend::with_values(
      elems,
      frontend::associative_values(combine, frontend::values_of(elems), reverse, axis, {}, where));
}

/// jax.lax.switch: branches[index](operands...), index clamped to the branches that there are. Only
/// that branch runs. All return the same dtypes and shapes (DTypeError, ShapeError). On a GPU, the
/// host waits for the index, until calls repeat: then the GPU decides (docs/guide/loops.md).
template <class Result, class... Operands>
Result switch_case(const Operand& index,
                   const std::vector<std::function<Result(Operands...)>>& branches,
                   const std::type_identity_t<Operands>&... operands) {
  const auto all = std::tie(operands...);
  std::optional<Result> structure;
  std::vector<std::function<frontend::Values(frontend::Values)>> functions;
  for (const auto& branch : branches) {
    functions.emplace_back([&](frontend::Values values) {
      return frontend::take_values<Result>(
          std::apply(branch, frontend::with_values(std::tuple<Operands...>(all), values)),
          structure);
    });
  }
  const frontend::Values made =
      frontend::switch_values(index, functions, frontend::values_of(std::tuple<Operands...>(all)),
                              "switch_case", index.where());
  return frontend::with_values(*structure, made);
}

/// jax.lax.cond: then(operands...) if `predicate`, a bool Array of one element, is true, else
/// otherwise(operands...). As switch_case().
template <class Then, class Otherwise, class... Operands>
auto cond(const Operand& predicate, Then&& then, Otherwise&& otherwise,
          const Operands&... operands) {
  using Result = std::remove_cvref_t<std::invoke_result_t<Then&, Operands...>>;
  const std::tuple<Operands...> all(operands...);
  std::optional<Result> structure;
  const auto branch = [&](auto& function) {
    return [&](frontend::Values values) {
      return frontend::take_values<Result>(std::apply(function, frontend::with_values(all, values)),
                                           structure);
    };
  };
  const frontend::Values made =
      frontend::switch_values(predicate, {branch(otherwise), branch(then)},
                              frontend::values_of(all), "cond", predicate.where());
  return frontend::with_values(*structure, made);
}

}  // namespace heddle
