#include "heddle/grids.h"

#include <cmath>
#include <complex>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;
using frontend::rank_of;
using frontend::Site;
using frontend::value_of;

namespace {

double wide(const Scalar& scalar) { return value_of(scalar); }

/// Sets one end exactly, where the computed value is inexact.
Array with_element(const Array& x, std::int64_t place, Scalar value, const AtLocation& here) {
  Array result = x;
  result.at({IndexItem(place, here.where)}, here.where) = here(value);
  return result;
}

}  // namespace

Array linspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, DType dtype,
               SourceLocation where) {
  const AtLocation here(where);
  const Array values = linspace(wide(start), wide(stop), count, endpoint, where);
  return astype(here(is_integer(dtype) ? floor(here(values)) : values), dtype);
}

Array logspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, double base,
               DType dtype, SourceLocation where) {
  const AtLocation here(where);
  const Array exponents = linspace(wide(start), wide(stop), count, endpoint, where);
  return astype(here(power(here(Scalar(base)), here(exponents))), dtype);
}

namespace {

/// geomspace of complex numbers, on a spiral around 0.
Array complex_geomspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, DType dtype,
                        SourceLocation where) {
  using Complex = std::complex<double>;
  const AtLocation here(where);
  const Complex first(wide(start), start.imaginary), last(wide(stop), stop.imaginary);
  const Complex sign = first / std::abs(first);
  const Array radius = logspace(std::log10(std::abs(first)), std::log10(std::abs(last)), count,
                                endpoint, 10.0, DType::f64, where);
  const Array angle = linspace(0.0, std::arg(last / sign), count, endpoint, where);
  const Array real_part = multiply(here(radius), here(cos(here(angle))));
  const Array imaginary = multiply(here(radius), here(sin(here(angle))));
  Array values = multiply(here(make_complex(here(real_part), here(imaginary))), here(Scalar(sign)));
  if (count > 0) values = with_element(values, 0, first, here);
  if (count > 1 && endpoint) values = with_element(values, count - 1, last, here);
  return astype(here(values), dtype);
}

}  // namespace

Array geomspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, DType dtype,
                SourceLocation where) {
  const AtLocation here(where);
  const double first = wide(start), last = wide(stop);
  if ((first == 0 && start.imaginary == 0) || (last == 0 && stop.imaginary == 0)) {
    throw ValueError(at("geomspace: a geometric sequence cannot include 0", where));
  }
  if (is_complex(dtype)) return complex_geomspace(start, stop, count, endpoint, dtype, where);
  if (start.kind == Scalar::Kind::complex || stop.kind == Scalar::Kind::complex) {
    throw DTypeError(
        at(fmt::format("geomspace: complex numbers cannot be cast to {}", numpy_name_of(dtype)),
           where));
  }
  const double sign = first < 0 ? -1 : 1;
  Array values = logspace(std::log10(first * sign), std::log10(last * sign), count, endpoint, 10.0,
                          DType::f64, where);
  values = multiply(here(values), here(Scalar(sign)));
  if (count > 0) values = with_element(values, 0, first, here);
  if (count > 1 && endpoint) values = with_element(values, count - 1, last, here);
  return astype(here(values), dtype);
}

std::vector<Array> meshgrid(Arrays vectors, std::string_view indexing, bool sparse,
                            SourceLocation where) {
  if (indexing != "xy" && indexing != "ij") {
    throw ValueError(
        at(fmt::format("meshgrid: the indexing is \"xy\" or \"ij\", not \"{}\"", indexing), where));
  }
  const Site site = where;
  const std::size_t rank = vectors.size();
  std::vector<NodeRef> nodes;
  ir::Shape shape;
  for (std::size_t i = 0; i < rank; ++i) {
    const NodeRef node = Access::node(vectors[i], where);
    if (rank_of(node) > 1) {
      throw ShapeError(
          at(fmt::format("meshgrid: takes vectors, not {}", frontend::describe(*node)), where));
    }
    const std::size_t axis = indexing == "xy" && i < 2 && rank > 1 ? 1 - i : i;
    ir::Shape extents(rank, 1);
    extents[axis] = ir::element_count(node->shape);
    nodes.push_back(frontend::reshape_to(node, extents, site));
    shape = ir::broadcast_shapes(shape, extents);
  }
  std::vector<Array> result;
  for (const NodeRef& node : nodes) {
    result.push_back(Access::make(sparse ? node : frontend::broadcast_to_shape(node, shape, site)));
  }
  return result;
}

std::vector<Array> sparse_indices(const Shape& shape, DType dtype, SourceLocation where) {
  const Site site = where;
  std::vector<Array> result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 0) {
      throw ShapeError(at(fmt::format("indices: the extent {} is negative", shape[axis]), where));
    }
    ir::Shape extents(shape.size(), 1);
    extents[axis] = shape[axis];
    const NodeRef places =
        frontend::record_iota(extents, static_cast<std::int64_t>(axis), DType::i64, site);
    result.push_back(Access::make(frontend::cast_to(places, dtype, site)));
  }
  return result;
}

Array indices(const Shape& shape, DType dtype, SourceLocation where) {
  const AtLocation here(where);
  std::vector<Array> places;
  for (const Array& along : sparse_indices(shape, dtype, where)) {
    places.push_back(broadcast_to(here(along), shape));
  }
  if (places.empty()) return zeros({0}, dtype, where);
  return stack(places, 0, where);
}

}  // namespace heddle
