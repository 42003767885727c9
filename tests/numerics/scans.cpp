#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/types/constant.h"
#include "tests/numerics/suite.h"

namespace heddle::test {
namespace {

using ir::HostArray;
using ir::Op;
using ir::Shape;
using ir::ValueId;

const std::vector<Op>& scans() {
  static const std::vector<Op> ops = ops_of(ir::OpKind::scan);
  return ops;
}

bool allows(Op op, DType dtype) { return (ir::info(op).dtypes & ir::set_of(dtype)) != 0; }

/// What an op scans, so that its result says something: products stay near 1, and of long ones most
/// factors are 1, lest one order overflows where another does not.
HostArray values(Op op, DType dtype, const Shape& shape, std::uint64_t seed) {
  HostArray array = moderate_sample(dtype, shape, seed);
  if (op != Op::cumprod || !is_inexact(dtype)) return array;
  std::mt19937_64 random(seed);
  const std::size_t size = size_of(dtype), rare = 1 + array.data.size() / size / 1024;
  for (std::size_t at = 0; at < array.data.size(); at += size) {
    const double factor =
        random() % rare == 0 ? std::uniform_real_distribution(0.95, 1.05)(random) : 1;
    const ir::ElementBits bits = ir::constant_bits(dtype, factor);
    std::memcpy(array.data.data() + at, &bits, size);
  }
  return array;
}

/// Every scan of a dtype along some axes, a kernel each or the same for those of one input.
Builder fixed(DType dtype, const Shape& shape, const std::vector<std::int64_t>& axes,
              bool aligned = true) {
  Builder builder(fmt::format("scans of {}{}{}", name_of(dtype), to_string(shape),
                              aligned ? "" : " unaligned"));
  const ValueId sums = builder.input(values(Op::cumsum, dtype, shape, 3), aligned);
  const ValueId products = builder.input(values(Op::cumprod, dtype, shape, 4), aligned);
  for (const std::int64_t axis : axes) {
    for (const Op op : scans()) {
      if (allows(op, dtype))
        builder.output(builder.scan(op, op == Op::cumprod ? products : sums, axis));
    }
  }
  return builder;
}

TEST_CASE("every scan of every dtype is NumPy's along any axis") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    suite.add(fixed(dtype, {4, 33, 20}, {0, 1, 2}));
    suite.add(fixed(dtype, {300, 7}, {0, 1}));
  }
  suite.finish();
  suite.require(ir::OpKind::scan, 2);
}

TEST_CASE("lengths at the edges of vectors, warps, blocks and tiles") {
  Suite suite(small_target());
  for (const DType dtype : {DType::f32, DType::i8, DType::f64}) {
    for (const std::int64_t n :
         {1, 2, 3, 31, 32, 33, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4096, 4097, 8193}) {
      Builder builder(fmt::format("{} scans over {}", name_of(dtype), n));
      const ValueId line = builder.input(moderate_sample(dtype, {n}, 1), n % 3 != 0);
      const ValueId rows = builder.input(moderate_sample(dtype, {3, n}, 1), n % 2 == 0);
      const ValueId columns = builder.input(moderate_sample(dtype, {n, 17}, 2));
      for (const Op op : {Op::cumsum, Op::cummax}) {
        builder.output(builder.scan(op, line, 0));
        builder.output(builder.scan(op, rows, 1));
        builder.output(builder.scan(op, columns, 0));
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("many short rows, and few columns") {
  Suite suite;
  for (const DType dtype : {DType::f32, DType::i64, DType::u8}) {
    suite.add(fixed(dtype, {700, 3}, {1}));
    suite.add(fixed(dtype, {517, 8}, {1}));
    suite.add(fixed(dtype, {300, 5, 3}, {1}));
    suite.add(fixed(dtype, {40, 6, 16}, {1}));
    suite.add(fixed(dtype, {30, 70, 1}, {1}));
  }
  suite.finish();
}

TEST_CASE("long scans take tiles that wait for each other, and groups of tiles") {
  Suite suite(small_target());
  for (const DType dtype : {DType::boolean, DType::i64, DType::f16, DType::bf16, DType::f32}) {
    suite.add(fixed(dtype, {40003}, {0}));
    suite.add(fixed(dtype, {3, 12345}, {1}));
    suite.add(fixed(dtype, {601, 130}, {0}));
    suite.add(fixed(dtype, {2, 300, 33}, {1}));
  }
  // More than 32 tiles of a row, and 64 of a column.
  suite.add(fixed(DType::f32, {150001}, {0}, false));
  suite.add(fixed(DType::i32, {300000}, {0}));
  suite.add(fixed(DType::f32, {5000, 20}, {0}));
  // Few and long columns go in parts of the host.
  Builder parts("sums of long columns");
  parts.output(
      parts.scan(Op::cumsum, parts.input(moderate_sample(DType::i32, {140001, 17}, 1)), 0));
  suite.add(std::move(parts));
  suite.finish();
}

TEST_CASE("one program scans any length") {
  Suite suite;
  const ir::Dim m = ir::Dim::symbol("m"), n = ir::Dim::symbol("n");
  for (const DType dtype : {DType::i8, DType::u64, DType::f16, DType::f32}) {
    Builder line(fmt::format("{}[n]", name_of(dtype)));
    Builder plane(fmt::format("{}[m,n]", name_of(dtype)));
    const ValueId whole = line.input(moderate_sample(dtype, {1025}, 1), {n});
    const ValueId rows = plane.input(moderate_sample(dtype, {5, 257}, 2), {m, n});
    for (const Op op : {Op::cumsum, Op::cummin}) {
      line.output(line.scan(op, whole, 0));
      plane.output(plane.scan(op, rows, 0));
      plane.output(plane.scan(op, rows, 1));
    }
    for (const std::int64_t size : {0, 1, 33, 1024, 4097, 70000})
      line.run_also({moderate_sample(dtype, {size}, 3)});
    for (const auto& [height, width] :
         {std::pair{1, 1}, {0, 5}, {5, 0}, {3, 31}, {1300, 3}, {2, 4500}, {600, 40}}) {
      plane.run_also({moderate_sample(dtype, {height, width}, 4)});
    }
    line.made.bindings = {{ir::intern_symbol("n"), 1025}};
    plane.made.bindings = {{ir::intern_symbol("m"), 5}, {ir::intern_symbol("n"), 257}};
    suite.add(std::move(line));
    suite.add(std::move(plane));
  }
  suite.finish();
}

TEST_CASE("operands of scans lie in any layout") {
  Suite suite;
  for (const DType dtype : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    Builder builder(fmt::format("scans of {} views", name_of(dtype)));
    const ValueId line = builder.input(moderate_sample(dtype, {2051}, 1), false);
    const ValueId plane = builder.input(moderate_sample(dtype, {33, 70}, 2));
    const ValueId cube = builder.input(moderate_sample(dtype, {5, 6, 40}, 3), false);
    for (const Op op : {Op::cumsum, Op::cummax}) {
      const auto scan = [&](ValueId value, std::int64_t axis) {
        builder.output(builder.scan(op, value, axis));
      };
      scan(line, 0);
      scan(builder.slice(line, {2050}, {-2}, {1000}), 0);
      scan(builder.transpose(plane, {1, 0}), 1);
      scan(builder.transpose(plane, {1, 0}), 0);
      scan(builder.slice(plane, {32, 3}, {-4, 5}, {9, 13}), 1);
      scan(builder.broadcast(builder.slice(plane, {0, 7}, {1, 1}, {33, 1}), {33, 70}), 1);
      scan(builder.broadcast(builder.slice(plane, {4, 0}, {1, 1}, {1, 70}), {33, 70}), 0);
      scan(builder.transpose(cube, {2, 0, 1}), 0);
      scan(builder.reshape(builder.transpose(cube, {1, 0, 2}), {30, 40}), 0);
      scan(builder.concatenate({line, line}, 0), 0);
      // Views of what was scanned.
      const ValueId sums = builder.scan(op, plane, 1);
      builder.output(builder.transpose(sums, {1, 0}));
      builder.output(builder.slice(sums, {0, 69}, {1, -1}, {33, 70}));
      builder.output(builder.slice(sums, {0, 69}, {1, 1}, {33, 1}));
      builder.output(builder.reshape(sums, {2310}));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

/// What rides along before and after, values of rows, siblings, scans of scans and reductions.
Builder company(DType dtype, const Shape& shape, std::int64_t axis) {
  Builder builder(fmt::format("scans in company over {}{}", name_of(dtype), to_string(shape)));
  builder.most_ambiguous = 0.2;
  const ValueId x = builder.input(sample(ir::Domain::unit, 0, dtype, shape, 1));
  Shape across = shape;
  across[static_cast<std::size_t>(axis)] = 1;
  const ValueId weight = builder.input(sample(ir::Domain::unit, 0, dtype, across, 2));
  const ValueId scaled = builder.add(Op::multiply, {x, builder.add(Op::exp, {weight})});
  const ValueId sums = builder.scan(Op::cumsum, scaled, axis);
  const ValueId two = builder.constant(dtype, 2);
  builder.output(builder.add(Op::multiply, {sums, two}));
  builder.output(builder.add(Op::subtract, {sums, x}));
  builder.output(sums);
  builder.output(builder.add(Op::exp, {weight}));
  builder.output(builder.scan(Op::cummax, x, axis));
  builder.output(builder.scan(Op::cummin, sums, axis));
  builder.output(builder.reduce(Op::max, sums, {axis}, false));
  builder.output(builder.add(
      Op::divide, {builder.scan(Op::cummax, builder.add(Op::absolute, {x}), axis),
                   builder.add(Op::add, {builder.reduce(Op::max, x, {axis}, true), two})}));
  return builder;
}

TEST_CASE("elementwise work rides along") {
  Suite suite(small_target());
  for (const DType dtype : dtypes_in(ir::floats)) {
    suite.add(company(dtype, {9, 515}, 1));
    suite.add(company(dtype, {300, 21}, 0));
    suite.add(company(dtype, {2, 9001}, 1));
  }
  suite.finish();
}

TEST_CASE("rows are scanned and reduced") {
  Suite suite;
  for (const DType dtype : {DType::f16, DType::f32, DType::f64, DType::i32, DType::u8}) {
    for (const std::int64_t length : {5, 33, 252, 1000, 4096}) {
      const std::int64_t rows = length < 100 ? 300 : 9;
      Builder builder(fmt::format("rows of {} of {}", length, name_of(dtype)));
      const ValueId x = builder.input(values(Op::cumsum, dtype, {rows, length}, 6));
      const ValueId high = builder.scan(Op::cummax, x, 1);
      const ValueId below = builder.add(Op::subtract, {high, x});
      builder.output(builder.reduce(Op::max, below, {1}, false));
      builder.output(builder.reduce(Op::argmax, below, {1}, true));
      const ValueId total = builder.scan(Op::cumsum, builder.add(Op::minimum, {x, high}), 1);
      const ValueId middle = builder.add(Op::maximum, {total, builder.constant(dtype, 1)});
      builder.output(builder.reduce(Op::sum, builder.cast(middle, DType::f64), {1}, false));
      suite.add(std::move(builder));
    }
  }
  // Wide states: a block holds them all, and no tile reduces only its part.
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128}) {
    Builder wide(fmt::format("reduced segments of {}", name_of(dtype)));
    const ValueId x = wide.input(values(Op::cumsum, dtype, {2, 4096}, 8));
    const ValueId begins = wide.input(integers(DType::i32, {2, 4096}, 0, 40, 9));
    const ValueId is_begin = wide.add(Op::equal, {begins, wide.constant(DType::i32, 0)});
    wide.output(wide.reduce(Op::sum, wide.scan(Op::cumsum, x, is_begin, 1), {1}, false));
    suite.add(std::move(wide));
  }
  // A scan that is stored as well; rows of several axes.
  Builder both("scans in three dimensions");
  const ValueId cube = both.input(moderate_sample(DType::f32, {6, 7, 130}, 7));
  const ValueId scan = both.scan(Op::cumsum, cube, 2);
  both.output(scan);
  const ValueId mean = both.reduce(Op::sum, both.add(Op::exp, {scan}), {2}, true);
  both.output(both.add(Op::sqrt, {mean}));
  suite.add(std::move(both));
  suite.finish();
}

/// Scans that begin anew at about one element in `rare`; which they are is computed beside.
Builder segments(DType dtype, const Shape& shape, const std::vector<std::int64_t>& axes,
                 double rare) {
  Builder builder(fmt::format("segments of {}{}", name_of(dtype), to_string(shape)));
  const ValueId sums = builder.input(values(Op::cumsum, dtype, shape, 3));
  const ValueId products = builder.input(values(Op::cumprod, dtype, shape, 4));
  const ValueId draw = builder.input(sample(ir::Domain::unit, 0, DType::f32, shape, 5), false);
  const ValueId begins = builder.add(Op::less, {draw, builder.constant(DType::f32, 2 / rare - 1)});
  for (const std::int64_t axis : axes) {
    for (const Op op : scans()) {
      if (allows(op, dtype))
        builder.output(builder.scan(op, op == Op::cumprod ? products : sums, begins, axis));
    }
  }
  return builder;
}

TEST_CASE("scans of segments begin anew") {
  Suite suite(small_target());
  for (const DType dtype :
       {DType::boolean, DType::i8, DType::u32, DType::f16, DType::bf16, DType::f32, DType::c64}) {
    suite.add(segments(dtype, {4, 33, 20}, {1, 2}, 6));
  }
  // In tiles, and on the host in parts.
  suite.add(segments(DType::f64, {140001}, {0}, 50000));
  suite.add(segments(DType::i16, {2, 5000}, {1}, 40));
  suite.add(segments(DType::f32, {601, 70}, {0}, 100));
  suite.finish();
}

TEST_CASE("a scan is written into a part of another array") {
  Suite suite;
  Builder builder("updates with scans");
  const ValueId base = builder.input(moderate_sample(DType::f32, {40, 90}, 1));
  const ValueId x = builder.input(moderate_sample(DType::f32, {20, 60}, 2));
  for (const std::int64_t axis : {0, 1}) {
    builder.output(
        builder.update(base, builder.scan(Op::cumsum, x, axis), {3, 5}, {1, 1}, {20, 60}));
  }
  suite.add(std::move(builder));
  Builder donated("an update in place with a scan");
  const ValueId own = donated.input(moderate_sample(DType::f32, {40, 90}, 1));
  const ValueId y = donated.input(moderate_sample(DType::f32, {20, 60}, 2));
  donated.output(donated.update(own, donated.scan(Op::cumsum, y, 1), {3, 5}, {1, 1}, {20, 60}));
  donated.made.options.donated = {true, false};
  suite.add(std::move(donated));
  suite.finish();
}

TEST_CASE("NaNs, infinities and signed zeros") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::booleans | ir::reals)) {
    Builder builder(fmt::format("scans of special values of {}", name_of(dtype)));
    builder.most_ambiguous = 0.9;  // sums and products that may overflow
    const ValueId some = builder.input(sample(ir::Domain::any, 1, dtype, {85, 3}, 1));
    const ValueId columns = builder.input(sample(ir::Domain::any, 1, dtype, {40, 130}, 2));
    for (const Op op : scans()) {
      if (!allows(op, dtype)) continue;
      builder.output(builder.scan(op, some, 1));
      if (op != Op::cumsum && op != Op::cumprod) builder.output(builder.scan(op, columns, 0));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
