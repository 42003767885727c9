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

using Axes = std::vector<std::int64_t>;

const std::vector<Op>& reductions() {
  static const std::vector<Op> ops = ops_of(ir::OpKind::reduction);
  return ops;
}

bool allows(Op op, DType dtype) { return (ir::info(op).dtypes & ir::set_of(dtype)) != 0; }

bool has_value_of_nothing(Op op) {
  return op == Op::sum || op == Op::prod || op == Op::any || op == Op::all;
}

bool is_index(Op op) { return op == Op::argmin || op == Op::argmax; }

/// What an op reduces, so that its result says something: products stay near 1, a single element
/// decides some rows' any and all.
HostArray values(Op op, DType dtype, const Shape& shape, std::uint64_t seed) {
  HostArray array = moderate_sample(dtype, shape, seed);
  if (op != Op::any && op != Op::all && (op != Op::prod || !is_inexact(dtype))) return array;
  std::mt19937_64 random(seed);
  const std::size_t size = size_of(dtype);
  for (std::size_t at = 0; at < array.data.size(); at += size) {
    // Most factors of long products are 1, lest one order overflows where another does not.
    const bool is_one = array.data.size() > 4096 * size && random() % 16 != 0;
    const double factor = is_one ? 1 : std::uniform_real_distribution(0.95, 1.05)(random);
    const bool rare = random() % 128 == 0;
    const double value = op == Op::prod ? factor : (op == Op::any) == rare ? 1 : 0;
    ir::ElementBits bits = ir::constant_bits(dtype, value);
    if (is_complex(dtype) && op == Op::prod) {
      const DType part = real_dtype(dtype);
      const double other = std::uniform_real_distribution(-0.05, 0.05)(random);
      const double imaginary = is_one ? 0 : other;
      bits = ir::complex_bits(
          dtype, {ir::constant_bits(part, value).low, ir::constant_bits(part, imaginary).low});
    }
    std::memcpy(array.data.data() + at, bits.bytes(), size);
  }
  return array;
}

/// All reductions of a dtype over arrays of one shape; those of the same data share an input.
class Reductions {
 public:
  Reductions(Builder& builder, DType dtype, Shape first, std::uint64_t seed)
      : builder_(builder), dtype_(dtype), seed_(seed), first_(std::move(first)) {}

  ValueId input(Op op) {
    const std::size_t kind = kind_of(op);
    if (!known_[kind]) {
      known_[kind] = builder_.input(values(op, dtype_, first_, seed_), symbolic_);
      order_.push_back(op);
    }
    return *known_[kind];
  }
  void output(Op op, ValueId value, const Axes& axes, bool keepdims) {
    if (!allows(op, dtype_)) return;
    if (is_index(op) && axes.size() != 1 &&
        axes.size() != builder_.made.graph.shape(value).size()) {
      return;
    }
    builder_.output(builder_.reduce(op, value, axes, keepdims));
  }
  /// Extents of inputs from here on.
  Reductions& symbols(Shape shape) {
    symbolic_ = std::move(shape);
    return *this;
  }
  void also(const Shape& shape) {
    std::vector<HostArray> arrays;
    for (const Op op : order_) arrays.push_back(values(op, dtype_, shape, ++seed_));
    builder_.run_also(std::move(arrays));
  }

 private:
  static std::size_t kind_of(Op op) {
    return op == Op::prod ? 1 : op == Op::any ? 2 : op == Op::all ? 3 : 0;
  }

  Builder& builder_;
  DType dtype_;
  std::uint64_t seed_;
  Shape first_, symbolic_ = first_;
  std::optional<ValueId> known_[4];
  std::vector<Op> order_;
};

Builder fixed(DType dtype, const Shape& shape, const std::vector<Axes>& all_axes) {
  Builder builder(fmt::format("{}{}", name_of(dtype), to_string(shape)));
  Reductions reductions_of(builder, dtype, shape, 3);
  bool keepdims = false;
  for (const Axes& axes : all_axes) {
    for (const Op op : reductions()) {
      if (allows(op, dtype)) reductions_of.output(op, reductions_of.input(op), axes, keepdims);
    }
    keepdims = !keepdims;
  }
  return builder;
}

TEST_CASE("every reduction of every dtype is NumPy's over any axes") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    suite.add(fixed(dtype, {4, 33, 9}, {{2}, {0, 1, 2}, {1}, {0, 2}, {}}));
    suite.add(fixed(dtype, {300, 7}, {{0}, {1}}));
  }
  suite.finish();
  suite.require(ir::OpKind::reduction, 4);
}

/// Over the whole, rows and columns of symbolic extents; ops without a value of nothing apart.
void add_symbolic(Suite& suite, DType dtype, bool of_nothing) {
  Builder line(fmt::format("{}[n]", name_of(dtype)));
  Builder plane(fmt::format("{}[m,n]", name_of(dtype)));
  Reductions whole(line, dtype, {1025}, 5), rows(plane, dtype, {5, 257}, 6);
  const ir::Dim m = ir::Dim::symbol("m"), n = ir::Dim::symbol("n");
  whole.symbols({n});
  rows.symbols({m, n});
  for (const Op op : reductions()) {
    if (!allows(op, dtype) || has_value_of_nothing(op) != of_nothing) continue;
    whole.output(op, whole.input(op), {0}, false);
    rows.output(op, rows.input(op), {1}, true);
    rows.output(op, rows.input(op), {0}, false);
  }
  for (const std::int64_t size : {1, 31, 32, 33, 255, 256, 257, 1023, 1024, 4099}) {
    whole.also({size});
  }
  for (const auto& [height, width] : {std::pair{1, 1}, {3, 31}, {33, 32}, {257, 3}, {2, 1025}}) {
    rows.also({height, width});
  }
  if (of_nothing) {
    rows.also({0, 5});
    whole.also({0});
    rows.also({5, 0});
  }
  line.made.bindings = {{ir::intern_symbol("n"), 1025}};
  plane.made.bindings = {{ir::intern_symbol("m"), 5}, {ir::intern_symbol("n"), 257}};
  suite.add(std::move(line));
  suite.add(std::move(plane));
}

TEST_CASE("one program reduces any length") {
  Suite suite;
  for (const DType dtype :
       {DType::boolean, DType::i8, DType::i32, DType::u64, DType::f16, DType::f32, DType::f64}) {
    add_symbolic(suite, dtype, true);
    add_symbolic(suite, dtype, false);
  }
  suite.finish();
}

TEST_CASE("lengths at the edges of vectors, warps and blocks") {
  Suite suite;
  for (const DType dtype : {DType::f32, DType::i8}) {
    for (const std::int64_t n :
         {1, 2, 16, 17, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2048, 4097}) {
      Builder builder(fmt::format("{} reductions over {}", name_of(dtype), n));
      const ValueId rows = builder.input(moderate_sample(dtype, {3, n}, 1), n % 2 == 0);
      const ValueId columns = builder.input(moderate_sample(dtype, {n, 5}, 2));
      for (const Op op : {Op::sum, Op::argmax}) {
        builder.output(builder.reduce(op, rows, {1}, false));
        builder.output(builder.reduce(op, columns, {0}, true));
      }
      suite.add(std::move(builder));
    }
  }
  for (const DType dtype : {DType::f16, DType::i32, DType::u8}) {
    for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}}) {
      Builder builder(fmt::format("{}{}", name_of(dtype), to_string(shape)));
      const ValueId none = builder.input(HostArray{{dtype, shape}, {}});
      for (const Op op : reductions()) {
        if (has_value_of_nothing(op)) builder.output(builder.reduce(op, none, {0}, false));
      }
      suite.add(std::move(builder));
    }
  }
  suite.finish();
}

TEST_CASE("long reductions are split in two kernels, and few columns in parts") {
  Suite suite(small_target());
  for (const DType dtype :
       {DType::boolean, DType::i8, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    suite.add(fixed(dtype, {40003}, {{0}}));
    suite.add(fixed(dtype, {2, 12345}, {{1}}));
    suite.add(fixed(dtype, {6001, 3}, {{0}}));
  }
  for (const DType dtype : {DType::f32, DType::u8}) {
    add_symbolic(suite, dtype, true);
    add_symbolic(suite, dtype, false);
    suite.add(fixed(dtype, {70, 2, 90}, {{0, 2}, {0, 1, 2}}));
    suite.add(fixed(dtype, {50, 1000}, {{0}}));
  }
  // The host's parts are longer.
  for (const DType dtype : {DType::i8, DType::f16, DType::f32}) {
    Builder builder(fmt::format("{} reductions in parts of the host", name_of(dtype)));
    const ValueId line = builder.input(moderate_sample(dtype, {300001}, 1));
    const ValueId rows = builder.input(moderate_sample(dtype, {2, 140001}, 2));
    const ValueId columns = builder.input(moderate_sample(dtype, {140001, 2}, 3));
    for (const Op op : {Op::sum, Op::argmax, Op::all}) {
      builder.output(builder.reduce(op, line, {0}, false));
      builder.output(builder.reduce(op, rows, {1}, false));
      builder.output(builder.reduce(op, columns, {0}, false));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

TEST_CASE("operands of reductions lie in any layout") {
  Suite suite;
  for (const DType dtype : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    Builder builder(fmt::format("{} views", name_of(dtype)));
    const ValueId line = builder.input(moderate_sample(dtype, {2051}, 1), false);
    const ValueId plane = builder.input(moderate_sample(dtype, {33, 70}, 2));
    const ValueId cube = builder.input(moderate_sample(dtype, {5, 6, 40}, 3), false);
    for (const Op op : {Op::sum, Op::max, Op::argmin}) {
      const auto reduce = [&](ValueId value, Axes axes) {
        builder.output(builder.reduce(op, value, std::move(axes), false));
      };
      reduce(line, {0});
      reduce(builder.slice(line, {2050}, {-2}, {1000}), {0});
      reduce(builder.transpose(plane, {1, 0}), {1});
      reduce(builder.slice(plane, {32, 3}, {-4, 5}, {9, 13}), {1});
      reduce(builder.broadcast(builder.slice(plane, {0, 7}, {1, 1}, {33, 1}), {33, 70}), {1});
      reduce(builder.broadcast(builder.slice(plane, {4, 0}, {1, 1}, {1, 70}), {33, 70}), {0});
      reduce(builder.transpose(cube, {2, 0, 1}), {0});
      reduce(builder.transpose(cube, {1, 2, 0}), {0, 1, 2});
      reduce(builder.reshape(builder.transpose(cube, {1, 0, 2}), {30, 40}), {0});
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

/// sum(x) / n, sum((x - mean)^2) / n, the count of what is above the mean, and more of one input.
Builder siblings(DType dtype, const Shape& shape, std::int64_t axis) {
  Builder builder(fmt::format("siblings over {}{}", name_of(dtype), to_string(shape)));
  const ValueId x = builder.input(moderate_sample(dtype, shape, 1));
  const ValueId n = builder.constant(
      dtype, static_cast<double>(shape[static_cast<std::size_t>(axis)].constant()));
  const ValueId mean = builder.add(Op::divide, {builder.reduce(Op::sum, x, {axis}, true), n});
  const ValueId centred = builder.add(Op::subtract, {x, mean});
  const ValueId squares = builder.add(Op::square, {centred});
  builder.output(mean);
  builder.output(builder.add(Op::divide, {builder.reduce(Op::sum, squares, {axis}, false), n}));
  const ValueId limit = builder.constant(dtype, 1);
  const ValueId above = builder.add(Op::greater, {x, limit});
  builder.output(builder.reduce(Op::sum, builder.cast(above, DType::i64), {axis}, false));
  builder.output(builder.reduce(Op::any, above, {axis}, false));
  builder.output(builder.reduce(Op::min, x, {axis}, false));
  builder.output(builder.reduce(Op::argmax, builder.add(Op::absolute, {x}), {axis}, false));
  const ValueId exponentials = builder.reduce(Op::sum, builder.add(Op::exp, {x}), {axis}, false);
  builder.output(builder.add(Op::log, {exponentials}));
  return builder;
}

/// argmin over j of sum over k of (x[i, k] - y[j, k])^2, which is never stored.
Builder nearest(DType dtype) {
  Builder builder(fmt::format("nearest of {}", name_of(dtype)));
  builder.most_ambiguous = 0.2;  // distances in 16 bits tie
  const ValueId x = builder.input(sample(ir::Domain::unit, 0, dtype, {37, 1, 20}, 1));
  const ValueId y = builder.input(sample(ir::Domain::unit, 0, dtype, {1, 45, 20}, 2));
  const ValueId gap = builder.add(Op::subtract, {x, y});
  const ValueId distance =
      builder.reduce(Op::sum, builder.add(Op::multiply, {gap, gap}), {2}, false);
  builder.output(builder.reduce(Op::argmin, distance, {1}, false));
  builder.output(builder.add(Op::sqrt, {builder.reduce(Op::min, distance, {1}, false)}));
  return builder;
}

TEST_CASE("elementwise work rides along, and siblings share what they read") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::floats)) {
    suite.add(siblings(dtype, {9, 515}, 1));
    suite.add(siblings(dtype, {300, 21}, 0));
    suite.add(nearest(dtype));
  }
  suite.finish();
}

TEST_CASE("NaNs, infinities and ties") {
  Suite suite;
  for (const DType dtype : dtypes_in(ir::all_dtypes)) {
    Builder builder(fmt::format("special values of {}", name_of(dtype)));
    // Sums that may overflow; of a complex product, any part beside an infinity or a NaN.
    builder.most_ambiguous = is_complex(dtype) ? 0.95 : 0.5;
    // Each special value beside each of its two neighbours, and few among many.
    const ValueId some = builder.input(sample(ir::Domain::any, 1, dtype, {85, 3}, 1));
    const ValueId columns = builder.input(sample(ir::Domain::any, 1, dtype, {40, 130}, 2));
    const ValueId ties = builder.cast(
        builder.input(sample(ir::Domain::any, 0, DType::boolean, {20, 300}, 3)), dtype);
    for (const Op op : reductions()) {
      if (!allows(op, dtype)) continue;
      builder.output(builder.reduce(op, some, {1}, false));
      // Longer sums and products of these overflow in one order or another.
      if (op != Op::sum && op != Op::prod) {
        builder.output(builder.reduce(op, columns, {0}, false));
      }
      if (is_index(op)) builder.output(builder.reduce(op, ties, {1}, false));
    }
    suite.add(std::move(builder));
  }
  suite.finish();
}

}  // namespace
}  // namespace heddle::test
