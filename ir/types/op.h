#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "heddle/dtype.h"

namespace heddle::ir {

/// Every op of the IR. Elementwise ops, reductions and scans come from their tables.
enum class Op : std::uint16_t {
  parameter,  ///< input `index` of the graph: an array, or a scalar passed by value
  constant,   ///< 0-d, `bits` in `dtype`
  iota,       ///< the index along `axes[0]` of an array of `shape`, in `dtype`
  cast,       ///< elementwise, to `dtype`
#define HD_OP(name, ...) name,
#include "heddle/ops.def"
#undef HD_OP
  reshape,       ///< to `shape`, in C order
  transpose,     ///< axes permuted: result axis k is operand axis axes[k]
  broadcast_to,  ///< to `shape`, right-aligned
  slice,         ///< result[i] = operand[starts + i * steps], of `shape`; steps may be negative
  concatenate,   ///< of any number of operands along axes[0]
  slice_update,  ///< operand 0 with operand 1 written at starts + i * steps, i in `shape`
  gather,        ///< operand 0 at, along each of `axes`, the place that a further operand names
  scatter_add,   ///< of `shape`: sums of the elements of operand 0 that name the same place
  scatter_max,   ///< of `shape`: their largest, at least 0
#define HD_REDUCTION(name, ...) name,
#include "heddle/reductions.def"
#undef HD_REDUCTION
#define HD_SCAN(name, ...) name,
#include "heddle/scans.def"
#undef HD_SCAN
  call,                ///< of an op of the registry (ir/calls/calls.h): its first result
  result,              ///< of the call that is its operand, result `index`, from 1 on
  searchsorted_left,   ///< i64: how many elements of operand 0, 1-d and sorted, come before each of
                       ///< operand 1
  searchsorted_right,  ///< how many do not come after
};

enum class OpKind : std::uint8_t {
  source,
  elementwise,
  view,
  piecewise,
  gather,   ///< reads where values say
  scatter,  ///< writes where values say
  reduction,
  scan,
  call,   ///< of whole arrays, C-ordered in memory
  search  ///< elementwise in operand 1, of all of operand 0
};

/// How operand dtypes give the result's, and how the builders promote before.
enum class TypeRule : std::uint8_t {
  none,
  arithmetic,     ///< (T...) -> T; builders promote the operands to a common T
  real_part,      ///< (T) -> real_dtype(T); builders leave the operand as it is
  complex_of,     ///< (T, T) -> complex of T; builders take less than f32 to it
  floating,       ///< (T...) -> T, T inexact; builders take integers to floating_dtype
  divide,         ///< (T, T) -> T, T inexact; builders take integers to f64
  comparison,     ///< (T, T) -> bool
  predicate,      ///< (T) -> bool
  logical,        ///< (T...) -> bool
  select,         ///< (bool, T, T) -> T
  load_exponent,  ///< (T, i32) -> T, T floating
  exponent,       ///< (T) -> i32, T floating; builders promote as for `floating`
  bit_count,      ///< (T) -> u8
  draw,           ///< (u64, u64, f64...) -> f64; builders cast real operands
  draw_single     ///< (u64, u64) -> f32
};

/// Sets of dtypes, as bits 1 << DType.
using DTypeSet = std::uint32_t;
constexpr DTypeSet set_of(DType d) { return 1u << static_cast<unsigned>(d); }
inline constexpr DTypeSet booleans = set_of(DType::boolean);
inline constexpr DTypeSet signed_integers =
    set_of(DType::i8) | set_of(DType::i16) | set_of(DType::i32) | set_of(DType::i64);
inline constexpr DTypeSet unsigned_integers =
    set_of(DType::u8) | set_of(DType::u16) | set_of(DType::u32) | set_of(DType::u64);
inline constexpr DTypeSet integers = signed_integers | unsigned_integers;
/// Those that every device updates atomically.
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

/// Algebraic traits, as bits. An identity e means op(x, e) == x exactly, NaN and signed zero
/// included.
enum Trait : std::uint16_t {
  no_trait = 0,
  commutative = 1,
  associative = 2,       ///< exactly, on integers and bool
  identity_zero = 4,     ///< op(x, 0) == x for integers and bool; never used for floats (-0 + 0)
  identity_one = 8,      ///< op(x, 1) == x, but for complex x: inf * (1+0j) has NaN
  involution = 16,       ///< op(op(x)) == x
  idempotent = 32,       ///< op(op(x)) == op(x), or op(x, x) == x
  exactly_rounded = 64,  ///< the same bits on every target; may be folded
  boolean_as_i8 =
      128,  ///< builders cast bool to i8; without it a bool that `dtypes` lacks is an error
  identity_on_integers = 256,  ///< builders return bool and integer operands as they are
  rounds_complex = 512,  ///< of complex numbers more than one rounding: neither exactly_rounded
                         ///< nor idempotent
  keyed = 1024  ///< much of the work is on operand 0, a key, alone, or shared by neighbours
};

/// Where tests draw operands from. Values are then cast to the dtype under test.
enum class Domain : std::uint8_t {
  any,              ///< whole range, NaN, infinities and signed zeros included
  exponent,         ///< [-20, 20]: exp and its kin, and where a large argument says nothing
  positive,         ///< (0, 1000]
  above_minus_one,  ///< (-1, 1000]: log1p
  at_least_one,     ///< [1, 1000]: arccosh
  unit,             ///< [-1, 1]: arcsin
  inside_unit,      ///< (-1, 1): arctanh
  angle,            ///< [-100, 100]: sin
  shift,            ///< second operand in [0, bits)
  power,            ///< first in (0, 20], second in [-4, 4], non-negative for integers
  small_exponent,   ///< second operand an integer in [-20, 20]: ldexp
  trials,           ///< third operand in [0, 1000], fourth in [0, 1]: philox_binomial
  counts            ///< [0, 1000], the fifth operand in [0, 300]: philox_hypergeometric
};

struct OpInfo {
  Op op;
  std::string_view name;
  OpKind kind;
  int arity;  ///< -1: any
  TypeRule rule;
  DTypeSet dtypes;  ///< of the operands after promotion
  std::uint16_t traits;
  std::string_view numpy;  ///< "numpy.add", or "numpy.modf(x)[0]" of operands x and y; for the
                           ///< oracle and the documentation
  Domain domain;
  double ulp;  ///< allowed error in f32 and f64, on every target; f16 and bf16 add half an ulp of
               ///< theirs, and f16's functions 2^-19 of the result; see complex_ulp
  int cost;    ///< issue slots an element, roughly: add 1, divide 8, exp 10, pow 40
  bool has(Trait trait) const { return (traits & trait) != 0; }
  /// The same bits on every target for operands of `dtype`, but for contraction.
  bool is_exact(DType dtype) const {
    return has(exactly_rounded) && !(is_complex(dtype) && has(rounds_complex));
  }
  /// Allowed error of complex operands, in ulp of the result's magnitude, of either part: a part
  /// that is small beside the other may be off by more of its own.
  double complex_ulp() const {
    // They round an angle before they take its sine: of power, in the tests' domain, of up to 20,
    // and each of its two products; of exp2 of up to 14.
    if (op == Op::power) return 40;
    if (op == Op::exp2) return 16;
    return has(exactly_rounded) && !has(rounds_complex) ? 0 : ulp > 4 ? ulp : 4;
  }
};

/// The operand whose dtype is the one that an elementwise op is said to be of.
constexpr std::size_t typed_operand(TypeRule rule) {
  return rule == TypeRule::select ? 1 : rule == TypeRule::draw ? 2 : 0;
}
/// The dtype of operand k of an elementwise op of `dtype`.
constexpr DType operand_dtype(TypeRule rule, std::size_t k, DType dtype) {
  if (rule == TypeRule::select && k == 0) return DType::boolean;
  if (rule == TypeRule::load_exponent && k == 1) return DType::i32;
  return rule == TypeRule::draw && k < 2 ? DType::u64 : dtype;
}

const OpInfo& info(Op op);
/// The op of a name in the IR's text; nullopt when there is none.
std::optional<Op> op_from_name(std::string_view name);
inline constexpr int op_count = static_cast<int>(Op::searchsorted_right) + 1;

inline OpKind kind_of(Op op) { return info(op).kind; }
inline bool is_elementwise(Op op) { return kind_of(op) == OpKind::elementwise; }
inline bool is_view(Op op) { return kind_of(op) == OpKind::view; }
inline bool is_scatter(Op op) { return kind_of(op) == OpKind::scatter; }
inline bool is_reduction(Op op) { return kind_of(op) == OpKind::reduction; }
/// A reduction whose result is where an element is.
constexpr bool finds_place(Op op) { return op == Op::argmin || op == Op::argmax; }
inline bool is_scan(Op op) { return kind_of(op) == OpKind::scan; }
inline bool is_search(Op op) { return kind_of(op) == OpKind::search; }
/// A call, or a further result of one.
constexpr bool is_of_call(Op op) { return op == Op::call || op == Op::result; }

}  // namespace heddle::ir
