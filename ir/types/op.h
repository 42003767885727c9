#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "heddle/dtype.h"

namespace heddle::ir {

/// Every op of the IR. Elementwise ops, reductions and scans come from the .def tables.
enum class Op : std::uint16_t {
  parameter,  ///< input `index` of the graph: an array, or a scalar passed by value
  constant,   ///< 0-d; the value is `bits` in `dtype`
  iota,       ///< the index along `axes[0]`, in an array of `shape` and `dtype`
  cast,       ///< elementwise conversion to `dtype`
#define HD_OP(name, ...) name,
#include "heddle/ops.def"
#undef HD_OP
  reshape,       ///< to `shape`, in C order
  transpose,     ///< axes permuted: result axis k is operand axis axes[k]
  broadcast_to,  ///< to `shape`, right-aligned
  slice,         ///< result[i] = operand[starts + i * steps], i in `shape`; steps may be negative
  concatenate,   ///< any number of operands along axes[0]
  slice_update,  ///< operand 0, with operand 1 written at starts + i * steps, i in `shape`
  gather,        ///< elements of operand 0; each further operand holds the indices along one of
                 ///< `axes`
  scatter_add,   ///< an array of `shape`: sums of operand 0's elements that have the same indices
  scatter_max,   ///< an array of `shape`: maxima of those elements and 0
#define HD_REDUCTION(name, ...) name,
#include "heddle/reductions.def"
#undef HD_REDUCTION
#define HD_SCAN(name, ...) name,
#include "heddle/scans.def"
#undef HD_SCAN
  call,                ///< a call of a call op (ir/calls/calls.h); the node is its first result
  result,              ///< result number `index`, from 1, of the call that is its operand
  searchsorted_left,   ///< i64: for each element of operand 1, the number of elements of operand 0
                       ///< (1-d, sorted) that are less
  searchsorted_right,  ///< the same with "less or equal"
};

enum class OpKind : std::uint8_t {
  source,
  elementwise,
  view,
  piecewise,
  gather,   ///< reads at indices that are values
  scatter,  ///< writes at indices that are values
  reduction,
  scan,
  call,   ///< a call: operands and results are whole, C-ordered arrays
  search  ///< elementwise in operand 1; reads all of operand 0
};

/// How operand dtypes give the result's dtype, and how builders promote operands.
enum class TypeRule : std::uint8_t {
  none,
  arithmetic,     ///< (T...) -> T; builders promote the operands to a common T
  real_part,      ///< (T) -> real_dtype(T); builders do not cast the operand
  complex_of,     ///< (T, T) -> complex dtype with parts T; builders promote to at least f32
  floating,       ///< (T...) -> T, T inexact; builders cast integers to floating_dtype
  divide,         ///< (T, T) -> T, T inexact; builders cast integers to f64
  comparison,     ///< (T, T) -> bool
  predicate,      ///< (T) -> bool
  logical,        ///< (T...) -> bool
  select,         ///< (bool, T, T) -> T
  load_exponent,  ///< (T, i32) -> T, T floating
  exponent,       ///< (T) -> i32, T floating; builders promote as for `floating`
  bit_count,      ///< (T) -> u8
  draw,           ///< (u64, u64, f64...) -> f64; builders cast real operands
  sample_single   ///< (u64, u64) -> f32
};

/// A set of dtypes: bit 1 << DType for each.
using DTypeSet = std::uint32_t;
constexpr DTypeSet set_of(DType d) { return 1u << static_cast<unsigned>(d); }
inline constexpr DTypeSet booleans = set_of(DType::boolean);
inline constexpr DTypeSet signed_integers =
    set_of(DType::i8) | set_of(DType::i16) | set_of(DType::i32) | set_of(DType::i64);
inline constexpr DTypeSet unsigned_integers =
    set_of(DType::u8) | set_of(DType::u16) | set_of(DType::u32) | set_of(DType::u64);
inline constexpr DTypeSet integers = signed_integers | unsigned_integers;
/// Integer dtypes with atomic updates on every device.
inline constexpr DTypeSet wide_unsigned_integers = set_of(DType::u32) | set_of(DType::u64);
inline constexpr DTypeSet wide_integers =
    set_of(DType::i32) | set_of(DType::i64) | wide_unsigned_integers;
inline constexpr DTypeSet floats =
    set_of(DType::f16) | set_of(DType::bf16) | set_of(DType::f32) | set_of(DType::f64);
inline constexpr DTypeSet complexes = set_of(DType::c64) | set_of(DType::c128);
inline constexpr DTypeSet parts_of_complexes = set_of(DType::f32) | set_of(DType::f64);
inline constexpr DTypeSet inexact = floats | complexes;
inline constexpr DTypeSet doubles = set_of(DType::f64);
inline constexpr DTypeSet words = set_of(DType::u64);
inline constexpr DTypeSet reals = integers | floats;
inline constexpr DTypeSet numbers = reals | complexes;
inline constexpr DTypeSet all_dtypes = booleans | numbers;

/// Algebraic properties, as bits. That e is an identity means op(x, e) == x exactly, including NaN
/// and signed zero.
enum Trait : std::uint16_t {
  no_trait = 0,
  commutative = 1,
  associative = 2,       ///< exactly, for integers and bool
  identity_zero = 4,     ///< op(x, 0) == x for integers and bool; not used for floats, since -0 + 0
                         ///< is +0
  identity_one = 8,      ///< op(x, 1) == x, except for complex x: inf * (1+0j) contains NaN
  involution = 16,       ///< op(op(x)) == x
  idempotent = 32,       ///< op(op(x)) == op(x), or op(x, x) == x
  exactly_rounded = 64,  ///< the same bits on every target, so constants may be folded
  boolean_as_i8 =
      128,  ///< builders cast bool to i8; without it, bool is an error if not in `dtypes`
  identity_on_integers = 256,  ///< builders return bool and integer operands unchanged
  /// Complex operands: more than one rounding, so neither exactly_rounded nor idempotent.
  rounds_complex = 512,
  /// Much of the work depends only on operand 0, a key, or is shared by neighbouring elements.
  keyed = 1024
};

/// The range from which tests sample operands. Samples are then cast to the dtype under test.
enum class Domain : std::uint8_t {
  any,              ///< the whole range, including NaN, infinities and signed zeros
  exponent,         ///< [-20, 20]: exp and similar functions; larger arguments overflow or saturate
  positive,         ///< (0, 1000]
  above_minus_one,  ///< (-1, 1000]: log1p
  at_least_one,     ///< [1, 1000]: arccosh
  unit,             ///< [-1, 1]: arcsin
  inside_unit,      ///< (-1, 1): arctanh
  angle,            ///< [-100, 100]: sin
  shift,            ///< second operand in [0, bits)
  power,            ///< first in (0, 20]; second in [-4, 4], non-negative for integers
  small_exponent,   ///< second operand an integer in [-20, 20]: ldexp
  trials,           ///< third operand in [0, 1000], fourth in [0, 1]: philox_binomial
  counts            ///< [0, 1000], the fifth operand in [0, 300]: philox_hypergeometric
};

struct OpInfo {
  Op op;
  std::string_view name;
  OpKind kind;
  int arity;  ///< -1: any number
  TypeRule rule;
  DTypeSet dtypes;  ///< valid dtypes of the operands, after promotion
  std::uint16_t traits;
  /// "numpy.add", or an expression of operands x and y, "numpy.modf(x)[0]"; for the oracle and the
  /// documentation.
  std::string_view numpy;
  Domain domain;
  /// Allowed error in f32 and f64, in units in the last place, on every target. f16 and bf16 add
  /// half an ulp of their own; functions on f16 also add 2^-19 of the result. See complex_ulp.
  double ulp;
  int cost;  ///< approximate issue slots for one element: add 1, divide 8, exp 10, pow 40
  bool has(Trait trait) const { return (traits & trait) != 0; }
  /// Whether every target gives the same bits for operands of `dtype`, contraction aside.
  bool is_exact(DType dtype) const {
    return has(exactly_rounded) && !(is_complex(dtype) && has(rounds_complex));
  }
  /// Allowed error of each part of a complex result, in ulp of the result's magnitude. A part that
  /// is much smaller than the magnitude may thus be off by more of its own ulps.
  double complex_ulp() const {
    // These ops round an angle before they compute its sine. In the tests' domain, the angle of
    // power is up to 20, rounded in each of its two products; that of exp2 is up to 14.
    if (op == Op::power) return 40;
    if (op == Op::exp2) return 16;
    return has(exactly_rounded) && !has(rounds_complex) ? 0 : ulp > 4 ? ulp : 4;
  }
};

/// The operand whose dtype is called the dtype of an elementwise op.
constexpr std::size_t typed_operand(TypeRule rule) {
  return rule == TypeRule::select ? 1 : rule == TypeRule::draw ? 2 : 0;
}
/// The dtype of operand k of an elementwise op whose dtype is `dtype`.
constexpr DType operand_dtype(TypeRule rule, std::size_t k, DType dtype) {
  if (rule == TypeRule::select && k == 0) return DType::boolean;
  if (rule == TypeRule::load_exponent && k == 1) return DType::i32;
  return rule == TypeRule::draw && k < 2 ? DType::u64 : dtype;
}

const OpInfo& info(Op op);
/// The op with this name in the IR's text form; nullopt if there is none.
std::optional<Op> op_from_name(std::string_view name);
inline constexpr int op_count = static_cast<int>(Op::searchsorted_right) + 1;

inline OpKind kind_of(Op op) { return info(op).kind; }
inline bool is_elementwise(Op op) { return kind_of(op) == OpKind::elementwise; }
inline bool is_view(Op op) { return kind_of(op) == OpKind::view; }
inline bool is_scatter(Op op) { return kind_of(op) == OpKind::scatter; }
inline bool is_reduction(Op op) { return kind_of(op) == OpKind::reduction; }
/// Whether the op is a reduction that returns the index of an element.
constexpr bool finds_index(Op op) { return op == Op::argmin || op == Op::argmax; }
inline bool is_scan(Op op) { return kind_of(op) == OpKind::scan; }
inline bool is_search(Op op) { return kind_of(op) == OpKind::search; }
/// Whether the node is a call, or a further result of a call.
constexpr bool is_of_call(Op op) { return op == Op::call || op == Op::result; }

}  // namespace heddle::ir
