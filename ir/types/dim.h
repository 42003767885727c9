#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ir {

/// An interned name of an extent that is not known until launch.
enum class SymbolId : std::uint32_t {};

SymbolId intern_symbol(std::string_view name);
std::string_view symbol_name(SymbolId symbol);

/// What values symbols have at a launch.
struct SymbolBinding {
  SymbolId symbol;
  std::int64_t value;
};
using SymbolBindings = std::vector<SymbolBinding>;

/// An extent, stride or offset: a polynomial with integer coefficients over symbols, nearly always
/// a constant. Polynomials are kept in one normal form and interned, so equality is identity and
/// the type is 16 bytes, trivially copied.
class Dim {
 public:
  struct Polynomial;

  constexpr Dim(std::int64_t value = 0) : value_(value) {}  // NOLINT: integers are extents
  static Dim symbol(std::string_view name);
  static Dim symbol(SymbolId symbol);
  /// Inverse of to_string. Throws ParseError.
  static Dim parse(std::string_view text);

  constexpr bool is_constant() const { return polynomial_ == nullptr; }
  /// The value of a constant; InternalError for a polynomial.
  std::int64_t constant() const;
  /// No coefficient is negative, so the value is not either, for symbols are extents. False says
  /// nothing of a polynomial.
  bool is_non_negative() const;
  /// No coefficient is positive, so the value is not either.
  bool is_non_positive() const;
  /// 1 or -1.
  bool is_unit() const { return is_constant() && (value_ == 1 || value_ == -1); }
  /// Every coefficient a multiple of `factor`, so the value is too whatever the symbols are.
  bool divisible_by(std::int64_t factor) const;
  /// Requires divisible_by(factor).
  Dim divided_by(std::int64_t factor) const;
  /// The q with q * divisor equal to this for all values of the symbols; nullopt when there is
  /// none, or when `divisor` is a sum that this is no constant multiple of.
  std::optional<Dim> exact_quotient(Dim divisor) const;
  /// Throws InternalError when a symbol is not bound, ValueError on overflow.
  std::int64_t evaluate(std::span<const SymbolBinding> bindings) const;
  /// Appends the symbols that occur, each once, in order of first occurrence.
  void collect_symbols(std::vector<SymbolId>& symbols) const;
  /// "64", "n", "64*n*m", "n-2"; with symbols spelled by `spell` when given.
  std::string to_string() const;
  std::string to_string(const std::function<std::string(SymbolId)>& spell) const;
  /// Equal in every process: built from the symbols' names.
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
