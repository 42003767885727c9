#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/control.h"

namespace heddle {

namespace frontend {

/// Arrays, and the axis along which each has its slices; nullopt: it is the same for all slices.
struct MappedValues {
  Values values;
  std::vector<std::optional<std::int64_t>> axes;
};
struct VmapOptions {
  std::optional<std::int64_t> size = {};  ///< the number of slices
  std::vector<std::string> names = {};    ///< of the arguments, for errors
};
/// vmap() on flat lists. The function takes one slice of each mapped value, and says where the axis
/// of slices goes in each result; nullopt for a result that is the same for all slices.
Values vmap_values(const std::function<MappedValues(Values)>& function, const MappedValues& inputs,
                   const VmapOptions& options, const SourceLocation& where);

/// Throws ValueError unless a call has as many axes as arguments.
void check_mapped_axes(std::size_t axes, std::size_t arguments, const SourceLocation& where);

/// Axes repeated for each array of an argument.
template <class T>
void add_mapped(MappedValues& mapped, VmapOptions& options, const T& argument,
                std::optional<std::int64_t> axis) {
  const std::string name = "argument " + std::to_string(options.names.size());
  for (Array& value : values_of(argument)) {
    mapped.values.push_back(std::move(value));
    mapped.axes.push_back(axis);
    options.names.push_back(name);
  }
}

}  // namespace frontend

/// The axis of each argument along which vmap() takes slices: 0, or std::nullopt for an argument
/// that is the same for all slices.
using MappedAxes = std::vector<std::optional<std::int64_t>>;

/// jax.vmap: a function of arrays, made of one of their slices. The result takes the same
/// arguments, each with a further axis, at `in_axes`: one for each argument, by default 0.
/// Arguments are Arrays, structs, tuples or containers of them. The axis of slices is at `out_axis`
/// of each result.
///
/// The function is called once for each call of the result, to record what it does with one slice.
/// Its ops are then vectorised over all slices, loops and branches included: where a condition
/// differs from slice to slice, slices that are done keep their values, and all branches of a
/// cond() are computed. Failures of linear algebra are raised by the next wait.
///
/// ShapeError if the arguments have different numbers of slices, AxisError for an axis out of
/// range, ValueError for a wrong number of axes or if none is mapped, TraceError if the function
/// reads values, draws random numbers, or calls a kernel of the user that writes to a slice.
template <class Function>
auto vmap(Function function, MappedAxes in_axes = {}, std::int64_t out_axis = 0,
          SourceLocation where = SourceLocation::current()) {
  return [function = std::move(function), in_axes = std::move(in_axes), out_axis,
          where](const auto&... arguments) {
    using Result = std::remove_cvref_t<decltype(function(arguments...))>;
    MappedAxes axes = in_axes;
    if (axes.empty()) axes.assign(sizeof...(arguments), 0);
    frontend::check_mapped_axes(axes.size(), sizeof...(arguments), where);
    frontend::MappedValues mapped;
    frontend::VmapOptions options;
    std::size_t next = 0;
    (frontend::add_mapped(mapped, options, arguments, axes[next++]), ...);
    const auto all = std::tuple<std::remove_cvref_t<decltype(arguments)>...>(arguments...);
    std::optional<Result> structure;
    const auto flat = [&](frontend::Values slices) {
      frontend::MappedValues made{
          frontend::take_values<Result>(std::apply(function, frontend::with_values(all, slices)),
                                        structure),
          {}};
      made.axes.assign(made.values.size(), out_axis);
      return made;
    };
    const frontend::Values made = frontend::vmap_values(flat, mapped, options, where);
    return frontend::with_values(*structure, made);
  };
}

}  // namespace heddle
