#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "heddle/manipulation.h"
#include "heddle/sparse.h"

#include "frontend/array/access.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/trace.h"
#include "frontend/linalg/failures.h"
#include "frontend/sparse/entries.h"

namespace heddle::sparse {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::OpRecorder;
using ir::Op;

namespace {

struct Named {
  std::string_view name;
  const Array& array;
};

void check_shape(std::string_view what, const Extents& shape, const SourceLocation& where) {
  if (shape[0] < 0 || shape[1] < 0) {
    throw ValueError(
        at(fmt::format("{}: the shape ({}, {}) is negative", what, shape[0], shape[1]), where));
  }
}

NodeRef indices(std::string_view what, const Named& array, const SourceLocation& where) {
  const NodeRef node = Access::node(array.array, where);
  if (!is_integer(node->dtype)) {
    throw DTypeError(at(fmt::format("{}: {} is {}; indices are integers", what, array.name,
                                    frontend::describe(*node)),
                        where));
  }
  return node;
}

/// All are 1-d and of one length.
void check_lengths(std::string_view what, const std::vector<Named>& arrays,
                   const SourceLocation& where) {
  const NodeRef first = Access::node(arrays.front().array, where);
  for (const Named& each : arrays) {
    const NodeRef node = Access::node(each.array, where);
    if (node->shape.size() != 1) {
      throw ValueError(
          at(fmt::format("{}: {} must be 1-d, not {}", what, each.name, frontend::describe(*node)),
             where));
    }
    if (node->shape != first->shape) {
      throw ValueError(at(fmt::format("{}: {} has {} elements, {} has {}; they must be equal", what,
                                      arrays.front().name, first->shape[0].to_string(), each.name,
                                      node->shape[0].to_string()),
                          where));
    }
  }
}

/// The first position of a number outside of [0, extent), or -1; and that number.
void add_outside(std::vector<NodeRef>& status, const NodeRef& node, std::int64_t extent,
                 const OpRecorder& on) {
  const NodeRef none = frontend::record_constant(DType::i64, 0);
  const NodeRef wide = on.cast(node, DType::i64);
  const NodeRef outside = on(Op::logical_or, on(Op::less, wide, none),
                             on(Op::greater_equal, wide, on.extent(ir::Dim(extent))));
  const NodeRef first = frontend::first_failure(on.cast(outside, DType::i32), on.site);
  status.push_back(first);
  const NodeRef place = on.reshape(on(Op::maximum, first, none), {ir::Dim(1)});
  status.push_back(on.reshape(frontend::pick(wide, place, on), {}));
}

std::vector<std::int64_t> read(const std::vector<NodeRef>& status, const OpRecorder& on) {
  std::vector<Array> words;
  words.reserve(status.size());
  for (const NodeRef& each : status) words.push_back(Access::make(each));
  return stack(words, 0, on.site).to_vector<std::int64_t>(on.site);
}

void report_outside(std::string_view what, std::string_view array, const std::int64_t* status,
                    std::string_view lines, std::int64_t extent, const SourceLocation& where) {
  if (status[0] < 0) return;
  throw ValueError(at(fmt::format("{}: {}[{}] is {}, but there are {} {}", what, array, status[0],
                                  status[1], extent, lines),
                      where));
}

/// `lines` are what is compressed, `others` what indices count.
std::int64_t check_compressed(std::string_view what, const Csr& a, std::string_view lines,
                              std::string_view others, const SourceLocation& where) {
  const OpRecorder on{where};
  check_shape(what, a.shape, where);
  check_lengths(what, {{"data", a.data}, {"indices", a.indices}}, where);
  const NodeRef index = indices(what, {"indices", a.indices}, where);
  const NodeRef pointer = indices(what, {"indptr", a.indptr}, where);
  const std::int64_t segments = a.shape[0];
  if (pointer->shape != ir::Shape{ir::Dim(segments + 1)}) {
    throw ValueError(
        at(fmt::format("{}: indptr is {}, but must have {} elements, one more than there are {}",
                       what, frontend::describe(*pointer), segments + 1, lines),
           where));
  }
  if (frontend::Trace::current() != nullptr)
    return index->shape[0].is_constant() ? index->shape[0].constant() : -1;
  const NodeRef wide = on.cast(pointer, DType::i64);
  const ir::Dim count(segments);
  const auto element = [&](const ir::Dim& place) {
    return on.reshape(on.part(wide, 0, place, ir::Dim(1)), {});
  };
  std::vector<NodeRef> status{element(ir::Dim(0)), element(count)};
  const NodeRef falls =
      on(Op::less, on.part(wide, 0, ir::Dim(1), count), on.part(wide, 0, 0, count));
  status.push_back(frontend::first_failure(on.cast(falls, DType::i32), on.site));
  add_outside(status, index, a.shape[1], on);
  const std::vector<std::int64_t> found = read(status, on);
  if (found[0] != 0) {
    throw ValueError(at(fmt::format("{}: indptr[0] is {}, but must be 0", what, found[0]), where));
  }
  if (found[2] >= 0) {
    throw ValueError(
        at(fmt::format("{}: indptr decreases at position {}", what, found[2] + 1), where));
  }
  const std::int64_t stored = index->shape[0].constant();
  if (found[1] > stored) {
    throw ValueError(at(fmt::format("{}: indptr[{}] is {}, but there are {} indices", what,
                                    segments, found[1], stored),
                        where));
  }
  report_outside(what, "indices", &found[3], others, a.shape[1], where);
  return found[1];
}

}  // namespace

void check(const Coo& a, SourceLocation where) {
  const OpRecorder on{where};
  check_shape("coo", a.shape, where);
  check_lengths("coo", {{"data", a.data}, {"row", a.row}, {"col", a.col}}, where);
  const NodeRef row = indices("coo", {"row", a.row}, where);
  const NodeRef col = indices("coo", {"col", a.col}, where);
  if (frontend::Trace::current() != nullptr || row->shape[0] == ir::Dim(0)) return;
  std::vector<NodeRef> status;
  add_outside(status, row, a.shape[0], on);
  add_outside(status, col, a.shape[1], on);
  const std::vector<std::int64_t> found = read(status, on);
  report_outside("coo", "row", found.data(), "rows", a.shape[0], where);
  report_outside("coo", "col", &found[2], "columns", a.shape[1], where);
}

std::int64_t check(const Csr& a, SourceLocation where) {
  return check_compressed("csr", a, "rows", "columns", where);
}

std::int64_t check(const Csc& a, SourceLocation where) {
  return check_compressed("csc", transpose(a), "columns", "rows", where);
}

void check(const Dia& a, SourceLocation where) {
  const OpRecorder on{where};
  check_shape("dia", a.shape, where);
  const NodeRef data = Access::node(a.data, where);
  const NodeRef offsets = indices("dia", {"offsets", a.offsets}, where);
  if (data->shape.size() != 2 || offsets->shape.size() != 1 ||
      data->shape[0] != offsets->shape[0]) {
    throw ValueError(at(fmt::format("dia: data is {}, offsets {}; they must be [d, n] and [d]",
                                    frontend::describe(*data), frontend::describe(*offsets)),
                        where));
  }
  if (frontend::Trace::current() != nullptr || offsets->shape[0] == ir::Dim(0)) return;
  // An offset that is equal to an earlier one.
  const ir::Dim count = offsets->shape[0];
  const NodeRef rows = on.reshape(offsets, {count, ir::Dim(1)});
  const NodeRef columns = on.reshape(offsets, {ir::Dim(1), count});
  const NodeRef i = on.reshape(on.places(count), {count, ir::Dim(1)});
  const NodeRef j = on.reshape(on.places(count), {ir::Dim(1), count});
  const NodeRef again = on(Op::logical_and, on(Op::equal, rows, columns), on(Op::less, j, i));
  const NodeRef repeated = on.reduce(Op::any, again, {1});
  const std::int64_t found =
      Access::make(frontend::first_failure(on.cast(repeated, DType::i32), on.site))
          .item<std::int64_t>(where);
  if (found >= 0) {
    throw ValueError(
        at(fmt::format("dia: the offset at position {} is there twice", found), where));
  }
}

}  // namespace heddle::sparse
