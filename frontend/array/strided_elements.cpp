#include "frontend/array/strided_elements.h"

#include <cstring>

namespace heddle::frontend {

namespace {

/// Calls visit(position, number of elements, stride) for each row of the last axis, in C order.
template <class Visit>
void for_each_row(const StridedElements& elements, const Visit& visit) {
  const std::size_t rank = elements.extents.size();
  if (rank == 0) return visit(elements.offset, 1, 1);
  if (elements.count() == 0) return;
  ir::InlineVector<std::int64_t, 4> index(rank, 0);
  std::int64_t position = elements.offset;
  for (;;) {
    visit(position, elements.extents[rank - 1], elements.strides[rank - 1]);
    std::size_t axis = rank - 1;
    for (;;) {
      if (axis-- == 0) return;
      position += elements.strides[axis];
      if (++index[axis] < elements.extents[axis]) break;
      position -= elements.strides[axis] * elements.extents[axis];
      index[axis] = 0;
    }
  }
}

template <std::size_t size>
void gather_row(const std::byte* from, std::int64_t count, std::int64_t stride, std::byte* to) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * static_cast<std::int64_t>(size),
                from + i * stride * static_cast<std::int64_t>(size), size);
}

template <std::size_t size>
void scatter_row(const std::byte* from, std::int64_t count, std::int64_t stride, std::byte* to) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * stride * static_cast<std::int64_t>(size),
                from + i * static_cast<std::int64_t>(size), size);
}

template <std::size_t size>
void gather_all(const std::byte* from, const StridedElements& elements, std::byte* to) {
  for_each_row(elements, [&](std::int64_t at, std::int64_t count, std::int64_t stride) {
    const std::byte* const row = from + at * static_cast<std::int64_t>(size);
    const auto bytes = static_cast<std::size_t>(count) * size;
    stride == 1 ? static_cast<void>(std::memcpy(to, row, bytes))
                : gather_row<size>(row, count, stride, to);
    to += bytes;
  });
}

template <std::size_t size>
void scatter_all(const std::byte* from, const StridedElements& elements, std::byte* to) {
  for_each_row(elements, [&](std::int64_t at, std::int64_t count, std::int64_t stride) {
    std::byte* const row = to + at * static_cast<std::int64_t>(size);
    const auto bytes = static_cast<std::size_t>(count) * size;
    stride == 1 ? static_cast<void>(std::memcpy(row, from, bytes))
                : scatter_row<size>(from, count, stride, row);
    from += bytes;
  });
}

using Numbers = ir::InlineVector<std::int64_t, 4>;

void apply_slice(const ir::Attributes& slice, StridedElements& elements) {
  for (std::size_t axis = 0; axis < elements.extents.size(); ++axis) {
    elements.offset += slice.starts[axis].constant() * elements.strides[axis];
    elements.strides[axis] *= slice.steps[axis].constant();
    elements.extents[axis] = slice.shape[axis].constant();
  }
}

void apply_transpose(const ir::Attributes& transpose, StridedElements& elements) {
  const Numbers extents = elements.extents, strides = elements.strides;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const auto from = static_cast<std::size_t>(transpose.axes[axis]);
    elements.extents[axis] = extents[from];
    elements.strides[axis] = strides[from];
  }
}

void apply_broadcast(const ir::Shape& shape, StridedElements& elements) {
  const std::size_t added = shape.size() - elements.extents.size();
  Numbers extents, strides;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t extent = shape[axis].constant();
    const bool kept = axis >= added && elements.extents[axis - added] == extent;
    extents.push_back(extent);
    strides.push_back(kept ? elements.strides[axis - added] : 0);
  }
  elements.extents = extents;
  elements.strides = strides;
}

/// Any reshape of elements in C order; of others, those that add and remove axes of extent 1.
bool apply_reshape(const ir::Shape& shape, StridedElements& elements) {
  Numbers extents, strides;
  for (const ir::Dim extent : shape) extents.push_back(extent.constant());
  strides.resize(extents.size());
  if (elements.is_contiguous()) {
    std::int64_t stride = 1;
    for (std::size_t axis = extents.size(); axis-- > 0; stride *= extents[axis])
      strides[axis] = stride;
  } else {
    std::size_t from = 0;
    const auto skip_ones = [&] {
      while (from < elements.extents.size() && elements.extents[from] == 1) ++from;
    };
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      if (extents[axis] == 1) continue;
      skip_ones();
      if (from == elements.extents.size() || elements.extents[from] != extents[axis]) return false;
      strides[axis] = elements.strides[from++];
    }
    skip_ones();
    if (from < elements.extents.size()) return false;
  }
  elements.extents = extents;
  elements.strides = strides;
  return true;
}

}  // namespace

bool apply_view(ir::Op op, const ir::Attributes& view, StridedElements& elements) {
  const bool known = ir::is_constant(view.shape) && ir::is_constant(view.starts);
  if (!known) return false;
  switch (op) {
    case ir::Op::slice:
      apply_slice(view, elements);
      return true;
    case ir::Op::transpose:
      apply_transpose(view, elements);
      return true;
    case ir::Op::broadcast_to:
      apply_broadcast(view.shape, elements);
      return true;
    case ir::Op::reshape:
      return apply_reshape(view.shape, elements);
    default:
      return false;
  }
}

std::int64_t StridedElements::count() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

bool StridedElements::is_contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    if (extents[axis] != 1 && strides[axis] != expected) return false;
    expected *= extents[axis];
  }
  return true;
}

StridedElements all_elements(const ir::Shape& shape) {
  StridedElements all;
  all.extents.resize(shape.size());
  all.strides.resize(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    all.extents[axis] = shape[axis].constant();
    all.strides[axis] = stride;
    stride *= all.extents[axis];
  }
  return all;
}

ir::Shape shape_of(const StridedElements& elements) {
  ir::Shape shape;
  for (const std::int64_t extent : elements.extents) shape.push_back(extent);
  return shape;
}

void gather(const std::byte* from, const StridedElements& elements, std::size_t size,
            std::byte* to) {
  switch (size) {
    case 1:
      return gather_all<1>(from, elements, to);
    case 2:
      return gather_all<2>(from, elements, to);
    case 4:
      return gather_all<4>(from, elements, to);
    case 8:
      return gather_all<8>(from, elements, to);
    default:
      return gather_all<16>(from, elements, to);
  }
}

void scatter(const std::byte* from, const StridedElements& elements, std::size_t size,
             std::byte* to) {
  switch (size) {
    case 1:
      return scatter_all<1>(from, elements, to);
    case 2:
      return scatter_all<2>(from, elements, to);
    case 4:
      return scatter_all<4>(from, elements, to);
    case 8:
      return scatter_all<8>(from, elements, to);
    default:
      return scatter_all<16>(from, elements, to);
  }
}

}  // namespace heddle::frontend
