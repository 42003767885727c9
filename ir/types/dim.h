#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

/// An interned symbol name. A symbol stands for an extent that is unknown until launch.
enum class SymbolId : std::uint32_t {};

SymbolId intern_symbol(std::string_view name);
std::string_view symbol_name(SymbolId symbol);

/// The value of a symbol at a launch.
struct SymbolBinding {
  SymbolId symbol;
  std::int64_t value;
};
using SymbolBindings = std::vector<SymbolBinding>;

/// An extent, stride or offset: a polynomial with integer coefficients over symbols, in most cases
/// a constant. Polynomials are interned in one normal form, so equality compares pointers. 16
/// bytes, trivially copyable.
class Dim {
 public:
  struct Polynomial;

  constexpr Dim(std::int64_t value = 0) : value_(value) {}  // NOLINT: integers are extents
  static Dim symbol(std::string_view name);
  static Dim symbol(SymbolId symbol);
  /// Inverse of to_string. Throws ParseError.
  static Dim parse(std::string_view text);

  constexpr bool is_constant() const { return polynomial_ == nullptr; }
  /// The value of a constant. Throws InternalError if this is not a constant.
  std::int64_t constant() const;
  /// True if no coefficient is negative. Then the value is not negative, since symbols are extents.
  /// If false, the value may have any sign.
  bool is_non_negative() const;
  /// True if no coefficient is positive. Then the value is not positive.
  bool is_non_positive() const;
  /// Whether this is the constant 1 or -1.
  bool is_unit() const { return is_constant() && (value_ == 1 || value_ == -1); }
  /// True if every coefficient is a multiple of `factor`. Then the value is a multiple as well,
  /// whatever the values of the symbols are.
  bool divisible_by(std::int64_t factor) const;
  /// This divided by `factor`. Requires divisible_by(factor).
  Dim divided_by(std::int64_t factor) const;
  /// The q with q * divisor == *this for all values of the symbols. nullopt if there is none, or
  /// `divisor` is 0. With a remainder: dim_division.h.
  std::optional<Dim> exact_quotient(Dim divisor) const;
  /// Throws InternalError if a symbol has no binding, ValueError on overflow.
  std::int64_t evaluate(std::span<const SymbolBinding> bindings) const;
  /// The symbols that have a binding replaced by their values. Throws ShapeError on overflow.
  Dim with_bound(std::span<const SymbolBinding> bindings) const;
  /// Appends the symbols that occur here, each once, in order of first occurrence.
  void collect_symbols(std::vector<SymbolId>& symbols) const;
  /// "64", "n", "64*n*m", "n-2". `spell`, if given, returns the text of a symbol.
  std::string to_string() const;
  std::string to_string(const std::function<std::string(SymbolId)>& spell) const;
  /// Equal in every process: computed from the symbols' names.
  std::uint64_t hash() const;

  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  friend constexpr bool operator==(Dim a, Dim b) {
    return a.value_ == b.value_ && a.polynomial_ == b.polynomial_;
  }
  Dim& operator+=(Dim b) { return *this = *this + b; }
  Dim& operator*=(Dim b) { return *this = *this * b; }

 private:
  explicit Dim(const Polynomial& polynomial) : polynomial_(&polynomial) {}
  static Dim from_terms(Polynomial&& terms);

  std::int64_t value_ = 0;
  const Polynomial* polynomial_ = nullptr;
};

}  // namespace heddle::ir
