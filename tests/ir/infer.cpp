#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "type_text.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

/// The inferred type's text, or "ShapeError: message".
std::string infer_text(Op op, std::initializer_list<std::string_view> operands,
                       const Attributes& attributes = {}) {
  std::vector<Type> types;
  for (std::string_view operand : operands) types.push_back(type_of(operand));
  try {
    return to_string(infer(op, types, attributes));
  } catch (const ShapeError& error) {
    return std::string("ShapeError: ") + error.what();
  } catch (const DTypeError& error) {
    return std::string("DTypeError: ") + error.what();
  } catch (const IndexError& error) {
    return std::string("IndexError: ") + error.what();
  } catch (const ValueError& error) {
    return std::string("ValueError: ") + error.what();
  }
}

Attributes with_axes(std::vector<std::int64_t> axes, bool keepdims = false) {
  Attributes attributes;
  attributes.axes = std::move(axes);
  attributes.keepdims = keepdims;
  return attributes;
}

Attributes with_type(std::string_view type) {
  Attributes attributes;
  attributes.dtype = type_of(type).dtype;
  attributes.shape = type_of(type).shape;
  return attributes;
}

Attributes with_shape(std::string_view shape) {
  Attributes attributes;
  attributes.shape = shape_of(shape);
  return attributes;
}

Attributes region(std::string_view starts, ir::Dims steps, std::string_view shape) {
  Attributes attributes = with_shape(shape);
  attributes.starts = shape_of(starts);
  attributes.steps = std::move(steps);
  return attributes;
}

std::string slice(std::string_view operand, std::string_view starts, ir::Dims steps,
                  std::string_view shape) {
  return infer_text(Op::slice, {operand}, region(starts, std::move(steps), shape));
}

}  // namespace

TEST_CASE("elementwise: dtypes by the op's rule, shapes by broadcasting") {
  CHECK(infer_text(Op::add, {"f32[3]", "f32[2,1]"}) == "f32[2,3]");
  CHECK(infer_text(Op::add, {"bool[]", "bool[n]"}) == "bool[n]");
  CHECK(infer_text(Op::exp, {"bf16[n,0]"}) == "bf16[n,0]");
  CHECK(infer_text(Op::divide, {"f16[n]", "f16[]"}) == "f16[n]");
  CHECK(infer_text(Op::less, {"i8[3]", "i8[1]"}) == "bool[3]");
  CHECK(infer_text(Op::isnan, {"f32[3]"}) == "bool[3]");
  CHECK(infer_text(Op::logical_and, {"f32[3]", "f32[3]"}) == "bool[3]");
  CHECK(infer_text(Op::cast, {"u8[4]"}, with_type("f64[]")) == "f64[4]");
}

TEST_CASE("elementwise: errors name op, shapes and dtypes") {
  CHECK(infer_text(Op::add, {"f32[3]", "f32[4]"}) ==
        "ShapeError: add(float32[3], float32[4]): shapes [3] and [4] do not broadcast: axis -1 is "
        "3 and 4; "
        "extents must be equal or 1");
  CHECK(infer_text(Op::add, {"f32[3]", "f64[3]"}) ==
        "DTypeError: add(float32[3], float64[3]): operands 0 and 1 differ in dtype, float32 and "
        "float64; cast one "
        "of them");
  CHECK(infer_text(Op::subtract, {"bool[3]", "bool[3]"}) ==
        "DTypeError: subtract(bool[3], bool[3]): subtract is not defined for bool; cast to one of "
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
        "complex64 complex128");
  CHECK(infer_text(Op::exp, {"i32[3]"}) ==
        "DTypeError: exp(int32[3]): exp is not defined for int32; cast to one of float16 bfloat16 "
        "float32 float64 complex64 "
        "complex128");
  CHECK(infer_text(Op::add, {"c64[3]", "c64[3]"}) == "c64[3]");
  CHECK(infer_text(Op::cast, {"f32[3]"}, with_type("c64[]")) == "c64[3]");
  CHECK(infer_text(Op::absolute, {"c64[3]"}) == "f32[3]");
  CHECK(infer_text(Op::imag, {"c128[3]"}) == "f64[3]");
  CHECK(infer_text(Op::real, {"i8[3]"}) == "i8[3]");
  CHECK(infer_text(Op::floor, {"c64[3]"}).starts_with("DTypeError: "));
  CHECK(infer_text(Op::arctan2, {"c64[3]", "c64[3]"}).starts_with("DTypeError: "));
  CHECK(infer_text(Op::add, {"f32[3]", "c64[3]"}).starts_with("DTypeError: "));
  CHECK(infer_text(Op::add, {"f32[3]"}) == "ValueError: add(float32[3]): takes 2 operands, not 1");
  CHECK(infer_text(Op::add, {"f32[4294967296,1]", "f32[1,1073741824]"}) ==
        "ShapeError: add(float32[4294967296,1], float32[1,1073741824]): the size of "
        "float32[4294967296,1073741824] in bytes does not fit 64 bits: extent 4611686018427387904 "
        "* 4 does not "
        "fit 64 bits");
}

TEST_CASE("every elementwise op takes exactly its dtypes") {
  for (int i = 0; i < op_count; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (row.kind != OpKind::elementwise || row.op == Op::cast) continue;
    for (int d = 0; d < dtype_count; ++d) {
      const auto dtype = static_cast<DType>(d);
      std::vector<Type> types(static_cast<std::size_t>(row.arity), Type{dtype, {}});
      for (std::size_t k = 0; k < types.size(); ++k)
        types[k].dtype = operand_dtype(row.rule, k, dtype);
      CAPTURE(row.name);
      CAPTURE(name_of(dtype));
      if ((row.dtypes & set_of(dtype)) != 0) {
        CHECK_NOTHROW(infer(row.op, types, {}));
      } else {
        CHECK_THROWS_AS(infer(row.op, types, {}), DTypeError);
      }
    }
  }
}

TEST_CASE("select, load_exponent and draw fix operands' dtypes") {
  for (int i = 0; i < op_count; ++i) {
    const OpInfo& row = info(static_cast<Op>(i));
    const Type condition = type_of("bool[4]"), value = type_of("f32[3,1]");
    const Type key = type_of("u64[4]"), parameter = type_of("f64[3,1]");
    const Type exponent = type_of("i32[4]"), wrong = type_of("f32[4]");
    if (row.rule == TypeRule::select) {
      CHECK(infer(row.op, std::vector{condition, value, value}, {}) == type_of("f32[3,4]"));
      CHECK_THROWS_AS(infer(row.op, std::vector{wrong, value, value}, {}), DTypeError);
      CHECK_THROWS_AS(infer(row.op, std::vector{condition, value, condition}, {}), DTypeError);
    } else if (row.rule == TypeRule::load_exponent) {
      CHECK(infer(row.op, std::vector{value, exponent}, {}) == type_of("f32[3,4]"));
      CHECK_THROWS_AS(infer(row.op, std::vector{value, wrong}, {}), DTypeError);
    } else if (row.rule == TypeRule::draw) {
      std::vector types(static_cast<std::size_t>(row.arity), parameter);
      types[0] = types[1] = key;
      CHECK(infer(row.op, types, {}) == type_of("f64[3,4]"));
      types[1] = type_of("i64[4]");
      CHECK_THROWS_AS(infer(row.op, types, {}), DTypeError);
      types[1] = key;
      types.back() = value;
      CHECK_THROWS_AS(infer(row.op, types, {}), DTypeError);
    } else if (row.rule == TypeRule::sample_single) {
      CHECK(infer(row.op, std::vector{key, type_of("u64[3,1]")}, {}) == type_of("f32[3,4]"));
      CHECK_THROWS_AS(infer(row.op, std::vector{key, value}, {}), DTypeError);
    } else if (row.rule == TypeRule::exponent) {
      CHECK(infer(row.op, std::vector{value}, {}) == type_of("i32[3,1]"));
    } else if (row.rule == TypeRule::bit_count) {
      CHECK(infer(row.op, std::vector{exponent}, {}) == type_of("u8[4]"));
    }
  }
}

TEST_CASE("sources") {
  CHECK(infer_text(Op::parameter, {}, with_type("f32[n,4]")) == "f32[n,4]");
  CHECK(infer_text(Op::parameter, {}, with_type("f32[-1]")) ==
        "ShapeError: parameter(): shape [-1] has the negative extent -1");
  CHECK(infer_text(Op::parameter, {}, with_type("f32[-n-1]")).starts_with("ShapeError: "));
  CHECK(infer_text(Op::parameter, {}, with_type("f32[n-1]")) == "f32[n-1]");
  CHECK(infer_text(Op::parameter, {}, with_type("c64[2]")) == "c64[2]");
  CHECK(infer_text(Op::iota, {}, with_type("c64[2]")).starts_with("DTypeError: "));
  Attributes scalar = with_type("f32[2]");
  scalar.scalar = true;
  CHECK(infer_text(Op::parameter, {}, scalar) ==
        "ShapeError: parameter(): a scalar parameter is 0-d, not [2]");

  Attributes many_axes;
  many_axes.shape.assign(max_rank, 1);
  CHECK(infer(Op::parameter, {}, many_axes).shape.size() == max_rank);
  many_axes.shape.emplace_back(1);
  CHECK(infer_text(Op::parameter, {}, many_axes) ==
        "ShapeError: parameter(): an array has at most 64 dimensions, not 65");

  Attributes constant;
  constant.dtype = DType::u8;
  constant.bits = 255;
  CHECK(infer_text(Op::constant, {}, constant) == "u8[]");
  constant.bits = 256;
  CHECK(infer_text(Op::constant, {}, constant) ==
        "ValueError: constant(): bits 0x100 do not fit in uint8");

  Attributes iota = with_type("i64[n,3]");
  CHECK(infer_text(Op::iota, {}, iota) == "ValueError: iota(): takes one axis, not 0");
  iota.axes = {1};
  CHECK(infer_text(Op::iota, {}, iota) == "i64[n,3]");
  iota.axes = {2};
  CHECK(infer_text(Op::iota, {}, iota) ==
        "IndexError: iota(): axis 2 is out of bounds for an array of 2 dimensions");
  iota = with_type("bool[3]");
  iota.axes = {0};
  CHECK(infer_text(Op::iota, {}, iota).starts_with("DTypeError: "));
}

TEST_CASE("reshape keeps the number of elements") {
  CHECK(infer_text(Op::reshape, {"f32[2,6]"}, with_shape("[3,4]")) == "f32[3,4]");
  CHECK(infer_text(Op::reshape, {"f32[n,8,m]"}, with_shape("[8*n*m]")) == "f32[8*m*n]");
  CHECK(infer_text(Op::reshape, {"f32[0,3]"}, with_shape("[n,0]")) == "f32[n,0]");
  CHECK(infer_text(Op::reshape, {"f32[1,1]"}, with_shape("[]")) == "f32[]");
  CHECK(infer_text(Op::reshape, {"f32[3,4]"}, with_shape("[5]")) ==
        "ShapeError: reshape(float32[3,4]): cannot reshape to [5]: the operand has 12 elements, "
        "not 5");
  CHECK(
      infer_text(Op::reshape, {"f32[n]"}, with_shape("[4]")) ==
      "ShapeError: reshape(float32[n]): cannot reshape to [4]: the operand has n elements, not 4");
  CHECK(infer_text(Op::reshape, {"f32[6]"}, with_shape("[-2,-3]")).starts_with("ShapeError: "));
}

TEST_CASE("transpose permutes") {
  CHECK(infer_text(Op::transpose, {"f32[n,3,4]"}, with_axes({2, 0, 1})) == "f32[4,n,3]");
  CHECK(infer_text(Op::transpose, {"f32[]"}) == "f32[]");
  CHECK(infer_text(Op::transpose, {"f32[2,3]"}, with_axes({0})) ==
        "ValueError: transpose(float32[2,3]): axes [0] must name each of the 2 axes once");
  CHECK(infer_text(Op::transpose, {"f32[2,3]"}, with_axes({1, 1})) ==
        "ValueError: transpose(float32[2,3]): axes [1,1] name axis 1 twice");
  CHECK(
      infer_text(Op::transpose, {"f32[2,3]"}, with_axes({0, 2})) ==
      "IndexError: transpose(float32[2,3]): axis 2 is out of bounds for an array of 2 dimensions");
  CHECK(infer_text(Op::transpose, {"f32[2,3]"}, with_axes({0, -1})).starts_with("IndexError: "));
}

TEST_CASE("broadcast_to widens extents of 1 only") {
  CHECK(infer_text(Op::broadcast_to, {"f32[3,1]"}, with_shape("[2,3,n]")) == "f32[2,3,n]");
  CHECK(infer_text(Op::broadcast_to, {"f32[]"}, with_shape("[]")) == "f32[]");
  CHECK(infer_text(Op::broadcast_to, {"f32[1]"}, with_shape("[0]")) == "f32[0]");
  CHECK(infer_text(Op::broadcast_to, {"f32[3]"}, with_shape("[1]")) ==
        "ShapeError: broadcast_to(float32[3]): does not broadcast to [1]; extents must be equal or "
        "1");
  CHECK(infer_text(Op::broadcast_to, {"f32[1,3]"}, with_shape("[3]")).starts_with("ShapeError: "));
  CHECK(infer_text(Op::broadcast_to, {"f32[1]"}, with_shape("[-2]")).starts_with("ShapeError: "));
}

TEST_CASE("slice: constant regions stay inside") {
  CHECK(slice("f32[10]", "[2]", {3}, "[3]") == "f32[3]");
  CHECK(slice("f32[10]", "[9]", {-3}, "[4]") == "f32[4]");
  CHECK(slice("f32[10]", "[3]", {-3}, "[2]") == "f32[2]");
  CHECK(slice("f32[10]", "[99]", {1}, "[0]") == "f32[0]");
  CHECK(slice("f32[]", "[]", {}, "[]") == "f32[]");
  CHECK(slice("f32[10]", "[2]", {3}, "[4]") ==
        "IndexError: slice(float32[10]): start 2 step 3 extent 4 is out of bounds for axis 0 of "
        "extent 10");
  CHECK(slice("f32[10]", "[3]", {-3}, "[3]").starts_with("IndexError: "));
  CHECK(slice("f32[10]", "[-1]", {1}, "[2]").starts_with("IndexError: "));
  CHECK(slice("f32[10]", "[10]", {-1}, "[1]").starts_with("IndexError: "));
  CHECK(slice("f32[0]", "[0]", {1}, "[1]").starts_with("IndexError: "));
  CHECK(slice("f32[10]", "[0]", {0}, "[1]") ==
        "ValueError: slice(float32[10]): the step of axis 0 is 0");
  CHECK(slice("f32[10]", "[0]", {1}, "[-1]") ==
        "ShapeError: slice(float32[10]): axis 0 has the negative extent -1");
  CHECK(slice("f32[10,2]", "[0]", {1}, "[1]") ==
        "ShapeError: slice(float32[10,2]): needs 2 extents, starts and steps, not 1, 1 and 1");
  CHECK(slice("f32[10]", "[1]", {9223372036854775807}, "[3]").starts_with("ShapeError: "));
}

TEST_CASE("slice: symbolic regions, but for those that certainly leave their axis") {
  CHECK(slice("f32[n]", "[0]", {1}, "[n-2]") == "f32[n-2]");
  CHECK(slice("f32[n]", "[n-1]", {-1}, "[n]") == "f32[n]");
  CHECK(slice("f32[n]", "[k]", {1}, "[4]") == "f32[4]");
  CHECK(slice("f32[2*n]", "[1]", {2}, "[n]") == "f32[n]");
  CHECK(slice("f32[2*n]", "[2*n-1]", {-2}, "[n]") == "f32[n]");
  CHECK(slice("f32[n]", "[0]", {1}, "[n+1]") ==
        "IndexError: slice(float32[n]): start 0 step 1 extent n+1 is out of bounds for axis 0 of "
        "extent n");
  CHECK(slice("f32[n]", "[n]", {-1}, "[n]").starts_with("IndexError: "));
  CHECK(slice("f32[n]", "[0]", {2}, "[4]") == "f32[4]");
  CHECK(slice("f32[n]", "[0]", {2}, "[m]") == "f32[m]");
  CHECK(slice("f32[n]", "[0]", {2}, "[n+1]") ==
        "IndexError: slice(float32[n]): start 0 step 2 extent n+1 is out of bounds for axis 0 of "
        "extent n");
}

TEST_CASE("slice: a step's size may be symbolic, its sign may not") {
  const Dim k = Dim::symbol("k");
  CHECK(slice("f32[8*k]", "[0]", {k}, "[8]") == "f32[8]");
  CHECK(slice("f32[n]", "[n-1]", {Dim(-2) * k}, "[m]") == "f32[m]");
  CHECK(slice("f32[n]", "[0]", {k - 3}, "[m]") ==
        "ValueError: slice(float32[n]): the step k-3 of axis 0 has no known sign; only its "
        "magnitude may depend on symbols");
  CHECK(slice("f32[8*k]", "[0]", {k}, "[10]") ==
        "IndexError: slice(float32[8*k]): start 0 step k extent 10 is out of bounds for axis 0 of "
        "extent 8*k");
}

TEST_CASE("slice_update keeps the base's type") {
  const auto update = [](std::string_view base, std::string_view value, const Attributes& place) {
    return infer_text(Op::slice_update, {base, value}, place);
  };
  CHECK(update("f32[8,3]", "f32[2,3]", region("[6,0]", {1, 1}, "[2,3]")) == "f32[8,3]");
  CHECK(update("f32[8,3]", "f32[]", region("[7,0]", {-2, 1}, "[4,3]")) == "f32[8,3]");
  CHECK(update("f32[n]", "f32[1]", region("[i]", {1}, "[1]")) == "f32[n]");
  CHECK(update("f32[8]", "f32[3]", region("[0]", {1}, "[2]")) ==
        "ShapeError: slice_update(float32[8], float32[3]): the value's shape [3] does not "
        "broadcast to the "
        "region's, [2]");
  CHECK(update("f32[8]", "f32[1,2]", region("[0]", {1}, "[2]")).starts_with("ShapeError: "));
  CHECK(update("f32[8]", "f64[2]", region("[0]", {1}, "[2]")).starts_with("DTypeError: "));
  CHECK(update("f32[8]", "f32[2]", region("[7]", {1}, "[2]")) ==
        "IndexError: slice_update(float32[8], float32[2]): start 7 step 1 extent 2 is out of "
        "bounds for axis 0 of extent "
        "8");
}

TEST_CASE("concatenate adds extents along one axis") {
  CHECK(infer_text(Op::concatenate, {"f32[2,3]", "f32[0,3]", "f32[n,3]"}, with_axes({0})) ==
        "f32[n+2,3]");
  CHECK(infer_text(Op::concatenate, {"i8[n]"}, with_axes({0})) == "i8[n]");
  CHECK(infer_text(Op::concatenate, {"f32[2,3]", "f32[2,4]"}, with_axes({0})) ==
        "ShapeError: concatenate(float32[2,3], float32[2,4]): shapes [2,3] and [2,4] must be equal "
        "except along axis 0");
  CHECK(infer_text(Op::concatenate, {"f32[2]", "f32[2,1]"}, with_axes({0}))
            .starts_with("ShapeError: "));
  CHECK(infer_text(Op::concatenate, {"f32[2]", "f64[2]"}, with_axes({0}))
            .starts_with("DTypeError: "));
  CHECK(infer_text(Op::concatenate, {"f32[]", "f32[]"}, with_axes({0})) ==
        "ShapeError: concatenate(float32[], float32[]): 0-d arrays cannot be concatenated; reshape "
        "them to "
        "[1]");
  CHECK(infer_text(Op::concatenate, {}, with_axes({0})) ==
        "ValueError: concatenate(): needs at least one operand");
  CHECK(infer_text(Op::concatenate, {"f32[2]"}, with_axes({1})).starts_with("IndexError: "));
  CHECK(infer_text(Op::concatenate, {"f32[2]"}).starts_with("ValueError: "));
}

TEST_CASE("reductions drop or keep their axes") {
  CHECK(infer_text(Op::sum, {"f32[n,3,4]"}, with_axes({0, 2})) == "f32[3]");
  CHECK(infer_text(Op::sum, {"f32[n,3,4]"}, with_axes({0, 2}, true)) == "f32[1,3,1]");
  CHECK(infer_text(Op::sum, {"f32[n,3]"}) == "f32[n,3]");
  CHECK(infer_text(Op::prod, {"i64[]"}) == "i64[]");
  CHECK(infer_text(Op::any, {"f32[2,3]"}, with_axes({0, 1})) == "bool[]");
  CHECK(infer_text(Op::all, {"i8[2]"}, with_axes({0})) == "bool[]");
  CHECK(infer_text(Op::argmax, {"f32[2,3]"}, with_axes({1})) == "i64[2]");
  CHECK(infer_text(Op::argmin, {"bool[2,3]"}, with_axes({0, 1}, true)) == "i64[1,1]");
  CHECK(infer_text(Op::argmin, {"f32[]"}) == "i64[]");
  CHECK(infer_text(Op::sum, {"f32[0,3]"}, with_axes({0})) == "f32[3]");
  CHECK(infer_text(Op::max, {"f32[0,3]"}, with_axes({1})) == "f32[0]");
  CHECK(infer_text(Op::max, {"f32[0,3]"}) == "f32[0,3]");
}

TEST_CASE("scans keep their operand's type") {
  CHECK(infer_text(Op::cumsum, {"f32[n,3]"}, with_axes({0})) == "f32[n,3]");
  CHECK(infer_text(Op::cumprod, {"i8[2,0]"}, with_axes({1})) == "i8[2,0]");
  CHECK(infer_text(Op::cummax, {"bool[3]"}, with_axes({0})) == "bool[3]");
  CHECK(infer_text(Op::cumsum, {"bool[3]"}, with_axes({0})).starts_with("DTypeError: cumsum("));
  CHECK(infer_text(Op::cumsum, {"f32[]"}, with_axes({0})) ==
        "IndexError: cumsum(float32[]): axis 0 is out of bounds for an array of 0 dimensions");
  CHECK(infer_text(Op::cummin, {"c64[n,3]", "bool[n,3]"}, with_axes({1})) == "c64[n,3]");
  CHECK(infer_text(Op::cumsum, {"f32[3]", "i8[3]"}, with_axes({0})) ==
        "DTypeError: cumsum(float32[3], int8[3]): operand 1 must be bool, not int8; cast it");
  CHECK(infer_text(Op::cumsum, {"f32[3]", "bool[1]"}, with_axes({0}))
            .starts_with("ShapeError: cumsum(float32[3], bool[1]): operand 1 marks"));
  CHECK(infer_text(Op::cumsum, {"f32[3]", "bool[3]", "bool[3]"}, with_axes({0}))
            .starts_with("ValueError: cumsum("));
  CHECK(infer_text(Op::cummin, {"f32[2,3]"}, with_axes({0, 1})) ==
        "ValueError: cummin(float32[2,3]): takes one axis, not 2");
}

TEST_CASE("reductions: errors") {
  CHECK(infer_text(Op::sum, {"f32[2,3]"}, with_axes({2})) ==
        "IndexError: sum(float32[2,3]): axis 2 is out of bounds for an array of 2 dimensions");
  CHECK(infer_text(Op::sum, {"f32[2,3]"}, with_axes({-1})).starts_with("IndexError: "));
  CHECK(infer_text(Op::sum, {"f32[2,3]"}, with_axes({1, 0})) ==
        "ValueError: sum(float32[2,3]): axes [1,0] must be sorted, each named once");
  CHECK(infer_text(Op::sum, {"f32[2,3]"}, with_axes({1, 1})).starts_with("ValueError: "));
  CHECK(infer_text(Op::sum, {"bool[2]"}, with_axes({0})).starts_with("DTypeError: sum(bool[2])"));
  for (Op op : {Op::min, Op::max, Op::argmin, Op::argmax}) {
    CHECK(infer_text(op, {"f32[0]"}, with_axes({0})).starts_with("ValueError: "));
  }
  CHECK(
      infer_text(Op::max, {"f32[3,0]"}, with_axes({1})) ==
      "ValueError: max(float32[3,0]): axis 1 has no elements, and max of no elements is undefined");
  CHECK(infer_text(Op::argmax, {"f32[2,3,4]"}, with_axes({0, 1})) ==
        "ValueError: argmax(float32[2,3,4]): takes one axis or all 3, not 2");
  CHECK(infer_text(Op::argmax, {"f32[2,3]"}).starts_with("ValueError: "));
}

TEST_CASE("matmul broadcasts batch axes") {
  CHECK(infer_text(Op::call, {"f32[2,3]", "f32[3,4]"}, matmul_attributes(Precision::ieee)) ==
        "f32[2,4]");
  CHECK(infer_text(Op::call, {"f32[5,1,2,k]", "f32[7,k,4]"}, matmul_attributes(Precision::ieee)) ==
        "f32[5,7,2,4]");
  CHECK(infer_text(Op::call, {"i32[n,0]", "i32[0,m]"}, matmul_attributes(Precision::ieee)) ==
        "i32[n,m]");
  CHECK(infer_text(Op::call, {"f32[2,3]", "f32[4,5]"}, matmul_attributes(Precision::ieee)) ==
        "ShapeError: matmul(float32[2,3], float32[4,5]): the last axis of the first operand has "
        "extent 3, the second-to-last axis of the second has extent 4; they must be equal");
  CHECK(infer_text(Op::call, {"f32[3]", "f32[3,4]"}, matmul_attributes(Precision::ieee)) ==
        "ShapeError: matmul(float32[3], float32[3,4]): operands need at least 2 dimensions; "
        "reshape a "
        "vector to [1,n] or [n,1]");
  CHECK(infer_text(Op::call, {"f32[2,2,3]", "f32[3,3,4]"}, matmul_attributes(Precision::ieee))
            .starts_with("ShapeError: "));
  CHECK(infer_text(Op::call, {"f32[2,3]", "f16[3,4]"}, matmul_attributes(Precision::ieee))
            .starts_with("DTypeError: "));
  CHECK(infer_text(Op::call, {"f32[n,3]", "f32[m,4]"}, matmul_attributes(Precision::ieee))
            .starts_with("ShapeError: "));
}

TEST_CASE("searches are elementwise in what is looked for") {
  CHECK(infer_text(Op::searchsorted_left, {"f32[n]", "f32[2,3]"}) == "i64[2,3]");
  CHECK(infer_text(Op::searchsorted_right, {"u8[0]", "u8[]"}) == "i64[]");
  CHECK(infer_text(Op::searchsorted_left, {"f32[2,3]", "f32[3]"}) ==
        "ShapeError: searchsorted_left(float32[2,3], float32[3]): operand 0 (the sorted array) "
        "must have 1 dimension, not 2");
  CHECK(infer_text(Op::searchsorted_left, {"f32[3]", "f64[3]"}).starts_with("DTypeError: "));
  CHECK(infer_text(Op::searchsorted_left, {"bool[3]", "bool[3]"}).starts_with("DTypeError: "));
}

TEST_CASE("sorting keeps the shape") {
  const auto along = [](const CallOp& op, std::int64_t axis) {
    return call_attributes(op, {{"axis", axis}});
  };
  CHECK(infer_text(Op::call, {"f16[2,n]"}, along(calls::sort(), 0)) == "f16[2,n]");
  CHECK(infer_text(Op::call, {"bool[0,3]"}, along(calls::argsort(), 1)) == "i64[0,3]");
  CHECK(infer_text(Op::call, {"f32[2,3]"}, along(calls::sort(), 2)) ==
        "IndexError: sort(float32[2,3]): axis 2 is out of bounds for an array of 2 dimensions");
  CHECK(infer_text(Op::call, {"f32[2,3]"}, along(calls::sort(), -1)).starts_with("IndexError: "));
  CHECK(infer_text(Op::call, {"f32[]"}, along(calls::argsort(), 0)).starts_with("IndexError: "));
  CHECK(infer_text(Op::call, {"f32[2]", "f32[2]"}, along(calls::sort(), 0)) ==
        "ValueError: sort(float32[2], float32[2]): takes 1 operands, not 2");
}
