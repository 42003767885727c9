#include "ir/types/dim.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "heddle/error.h"

#include "ir/base/fork_gate.h"
#include "ir/types/dim_division.h"

namespace heddle::ir {
namespace {

/// coefficient * product of factors. Factors are sorted by name; a power repeats its factor.
struct Term {
  std::int64_t coefficient;
  std::vector<SymbolId> factors;
};

/// Names are never removed, so that string_views of them stay valid. The table is never destroyed,
/// because arrays may be destroyed at exit.
struct SymbolTable {
  SharedMutex mutex;
  std::deque<std::string> names;
  std::unordered_map<std::string_view, SymbolId> ids;
};

SymbolTable& symbol_table() {
  static SymbolTable* const table = new SymbolTable;
  return *table;
}

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) && std::ranges::all_of(text, is_name_part);
}

/// The order of symbols in the normal form. It compares names, because ids differ between
/// processes.
bool name_less(SymbolId a, SymbolId b) { return a != b && symbol_name(a) < symbol_name(b); }

/// The order of terms: higher degree first, then by names; the constant term is last.
bool factors_less(const std::vector<SymbolId>& a, const std::vector<SymbolId>& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  return std::ranges::lexicographical_compare(a, b, name_less);
}

[[noreturn]] void throw_overflow(Dim a, char operation, Dim b) {
  throw ShapeError(
      fmt::format("extent {} {} {} does not fit 64 bits", a.to_string(), operation, b.to_string()));
}

}  // namespace

struct Dim::Polynomial {
  std::vector<Term> terms;
  std::string text;
  std::uint64_t hash = 0;

  static std::vector<Term> terms_of(Dim dim) {
    if (dim.polynomial_ != nullptr) return dim.polynomial_->terms;
    if (dim.value_ == 0) return {};
    return {{dim.value_, {}}};
  }
  static Dim dim_of(Term term) { return from_terms({{std::move(term)}, {}, 0}); }
};

namespace {

struct PolynomialTable {
  Mutex mutex;
  std::unordered_map<std::string_view, std::unique_ptr<const Dim::Polynomial>> by_text;
};

PolynomialTable& polynomial_table() {
  static PolynomialTable* const table = new PolynomialTable;
  return *table;
}

/// Sorts terms and merges those with equal factors. False if a coefficient overflows.
bool normalize(std::vector<Term>& terms) {
  std::ranges::sort(terms, factors_less, &Term::factors);
  std::size_t count = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (count > 0 && terms[count - 1].factors == terms[i].factors) {
      std::int64_t& sum = terms[count - 1].coefficient;
      if (__builtin_add_overflow(sum, terms[i].coefficient, &sum)) return false;
    } else {
      if (count != i) terms[count] = std::move(terms[i]);
      ++count;
    }
  }
  terms.resize(count);
  std::erase_if(terms, [](const Term& term) { return term.coefficient == 0; });
  return true;
}

template <class Spell>
std::string text_of(const std::vector<Term>& terms, Spell&& spell) {
  std::string text;
  for (const Term& term : terms) {
    const bool negative = term.coefficient < 0;
    if (negative) {
      text += '-';
    } else if (!text.empty()) {
      text += '+';
    }
    const auto bits = static_cast<std::uint64_t>(term.coefficient);
    const std::uint64_t magnitude = negative ? 0 - bits : bits;
    bool first = true;
    if (magnitude != 1 || term.factors.empty()) {
      text += fmt::to_string(magnitude);
      first = false;
    }
    for (SymbolId factor : term.factors) {
      if (!first) text += '*';
      text += spell(factor);
      first = false;
    }
  }
  return text;
}

/// Parses "64*n*m", "n-2": a sum of products of integers and names.
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Dim run() {
    Dim sum = product(accept('-'));
    while (!at_end()) {
      if (accept('+')) {
        sum += product(false);
      } else if (accept('-')) {
        sum += product(true);
      } else {
        fail();
      }
    }
    return sum;
  }

 private:
  Dim product(bool negative) {
    Dim result = factor(negative);
    while (accept('*')) result *= factor(false);
    return result;
  }

  /// The sign is parsed with the factor, because the smallest integer has no positive counterpart.
  Dim factor(bool negative) {
    skip_space();
    const std::size_t begin = position_;
    while (position_ < text_.size() && is_name_part(text_[position_])) ++position_;
    const std::string_view word = text_.substr(begin, position_ - begin);
    if (is_name(word)) return negative ? Dim(-1) * Dim::symbol(word) : Dim::symbol(word);
    return integer(word, negative);
  }

  Dim integer(std::string_view word, bool negative) const {
    if (word.empty()) fail();
    std::int64_t value = 0;
    for (char c : word) {
      if (!is_digit(c)) fail();
      const std::int64_t digit = c - '0';
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
        throw ParseError(fmt::format("integer '{}' does not fit 64 bits", word));
      }
    }
    return value;
  }

  bool accept(char c) {
    skip_space();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  bool at_end() {
    skip_space();
    return position_ == text_.size();
  }

  void skip_space() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }

  [[noreturn]] void fail() const {
    throw ParseError(fmt::format(
        "'{}' is not an extent: expected integers and names joined by +, - and *, such as 64*n-2",
        text_));
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

SymbolId intern_symbol(std::string_view name) {
  if (!is_name(name)) {
    throw ValueError(fmt::format(
        "'{}' is not a valid symbol name: use letters, digits and _, and do not begin with a digit",
        name));
  }
  SymbolTable& table = symbol_table();
  {
    const std::shared_lock lock(table.mutex);
    if (auto found = table.ids.find(name); found != table.ids.end()) return found->second;
  }
  const std::unique_lock lock(table.mutex);
  if (auto found = table.ids.find(name); found != table.ids.end()) return found->second;
  const SymbolId id{static_cast<std::uint32_t>(table.names.size())};
  table.ids.emplace(table.names.emplace_back(name), id);
  return id;
}

std::string_view symbol_name(SymbolId symbol) {
  SymbolTable& table = symbol_table();
  const std::shared_lock lock(table.mutex);
  const auto index = static_cast<std::size_t>(symbol);
  if (index >= table.names.size()) throw InternalError(fmt::format("there is no symbol {}", index));
  return table.names[index];
}

Dim Dim::from_terms(Polynomial&& terms) {
  if (terms.terms.empty()) return Dim(0);
  if (terms.terms.size() == 1 && terms.terms[0].factors.empty()) return terms.terms[0].coefficient;
  terms.text = text_of(terms.terms, symbol_name);
  terms.hash = XXH3_64bits(terms.text.data(), terms.text.size());
  PolynomialTable& table = polynomial_table();
  const std::lock_guard lock(table.mutex);
  if (auto found = table.by_text.find(terms.text); found != table.by_text.end()) {
    return Dim(*found->second);
  }
  auto interned = std::make_unique<const Polynomial>(std::move(terms));
  const Polynomial& result = *interned;
  table.by_text.emplace(result.text, std::move(interned));
  return Dim(result);
}

Dim Dim::symbol(std::string_view name) { return symbol(intern_symbol(name)); }

Dim Dim::symbol(SymbolId symbol) {
  Polynomial polynomial;
  polynomial.terms.push_back({1, {symbol}});
  return from_terms(std::move(polynomial));
}

Dim Dim::parse(std::string_view text) { return DimParser(text).run(); }

std::int64_t Dim::constant() const {
  if (!is_constant()) throw InternalError("extent " + to_string() + " is not a constant");
  return value_;
}

bool Dim::is_non_negative() const {
  if (is_constant()) return value_ >= 0;
  return std::ranges::all_of(polynomial_->terms,
                             [](const Term& term) { return term.coefficient > 0; });
}

bool Dim::is_non_positive() const {
  if (is_constant()) return value_ <= 0;
  return std::ranges::all_of(polynomial_->terms,
                             [](const Term& term) { return term.coefficient < 0; });
}

bool Dim::divisible_by(std::int64_t factor) const {
  if (factor == 0) throw InternalError("divisible_by(0)");
  if (factor == 1 || factor == -1) return true;
  if (is_constant()) return value_ % factor == 0;
  return std::ranges::all_of(polynomial_->terms,
                             [factor](const Term& term) { return term.coefficient % factor == 0; });
}

Dim Dim::divided_by(std::int64_t factor) const {
  if (factor == 1) return *this;
  if (!divisible_by(factor)) {
    throw InternalError(fmt::format("extent {} is not divisible by {}", to_string(), factor));
  }
  if (factor == -1) return Dim(-1) * *this;
  if (is_constant()) return value_ / factor;
  Polynomial result;
  result.terms = polynomial_->terms;
  for (Term& term : result.terms) term.coefficient /= factor;
  return from_terms(std::move(result));
}

namespace {

/// term / divisor, if the quotient has integer coefficients and no negative powers.
std::optional<Term> quotient_of(Term term, const Term& divisor) {
  if (term.coefficient % divisor.coefficient != 0) return std::nullopt;
  term.coefficient /= divisor.coefficient;
  for (const SymbolId factor : divisor.factors) {
    const auto found = std::ranges::find(term.factors, factor);
    if (found == term.factors.end()) return std::nullopt;
    term.factors.erase(found);
  }
  return term;
}

}  // namespace

// Long division. The first term of the rest gets smaller in each step, in the order of terms.
DimDivision divide_polynomials(Dim value, Dim divisor) {
  if (divisor == Dim(0))
    throw InternalError(fmt::format("extent {} divided by 0", value.to_string()));
  const Term first = Dim::Polynomial::terms_of(divisor).front();
  DimDivision result;
  for (Dim rest = value; !(rest == Dim(0));) {
    const Term term = Dim::Polynomial::terms_of(rest).front();
    const std::optional<Term> quotient = quotient_of(term, first);
    const Dim moved = Dim::Polynomial::dim_of(quotient.value_or(term));
    (quotient ? result.quotient : result.remainder) += moved;
    rest = rest - (quotient ? moved * divisor : moved);
  }
  return result;
}

std::optional<Dim> Dim::exact_quotient(Dim divisor) const {
  if (divisor == Dim(0)) return std::nullopt;
  const DimDivision division = divide_polynomials(*this, divisor);
  return division.remainder == Dim(0) ? std::optional<Dim>(division.quotient) : std::nullopt;
}

std::int64_t Dim::evaluate(std::span<const SymbolBinding> bindings) const {
  if (is_constant()) return value_;
  std::int64_t sum = 0;
  for (const Term& term : polynomial_->terms) {
    std::int64_t product = term.coefficient;
    bool overflow = false, is_zero = false;
    for (SymbolId factor : term.factors) {
      auto bound = std::ranges::find(bindings, factor, &SymbolBinding::symbol);
      if (bound == bindings.end()) {
        throw InternalError(
            fmt::format("symbol {} of extent {} is not bound", symbol_name(factor), to_string()));
      }
      is_zero |= bound->value == 0;
      overflow |= __builtin_mul_overflow(product, bound->value, &product);
    }
    if (is_zero) continue;
    if (overflow || __builtin_add_overflow(sum, product, &sum)) {
      throw ValueError(fmt::format("extent {} does not fit 64 bits for these sizes", to_string()));
    }
  }
  return sum;
}

Dim Dim::with_bound(std::span<const SymbolBinding> bindings) const {
  if (is_constant()) return *this;
  Dim sum;
  for (const Term& term : polynomial_->terms) {
    Dim product = term.coefficient;
    for (const SymbolId factor : term.factors) {
      const auto bound = std::ranges::find(bindings, factor, &SymbolBinding::symbol);
      product *= bound == bindings.end() ? symbol(factor) : Dim(bound->value);
    }
    sum += product;
  }
  return sum;
}

void Dim::collect_symbols(std::vector<SymbolId>& symbols) const {
  if (is_constant()) return;
  for (const Term& term : polynomial_->terms) {
    for (SymbolId factor : term.factors) {
      if (std::ranges::find(symbols, factor) == symbols.end()) symbols.push_back(factor);
    }
  }
}

std::string Dim::to_string() const {
  return is_constant() ? fmt::to_string(value_) : polynomial_->text;
}

std::string Dim::to_string(const std::function<std::string(SymbolId)>& spell) const {
  if (is_constant() || !spell) return to_string();
  return text_of(polynomial_->terms, spell);
}

std::uint64_t Dim::hash() const {
  return is_constant() ? XXH3_64bits(&value_, sizeof value_) : polynomial_->hash;
}

namespace {

/// The latest results of an operator on polynomials, by operands. Programs repeat few operations
/// many times, and an operation looks its result up by its text.
class Results {
 public:
  template <class Operator>
  Dim of(Dim a, Dim b, const Operator& compute) {
    Result& slot = slots_[(a.hash() * 31 + b.hash()) % slots_.size()];
    if (!slot.is_set || !(slot.a == a) || !(slot.b == b)) slot = {a, b, compute(), true};
    return slot.value;
  }

 private:
  struct Result {
    Dim a, b, value;
    bool is_set = false;
  };
  std::array<Result, 256> slots_;
};

}  // namespace

Dim operator+(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.value_, b.value_, &sum)) throw_overflow(a, '+', b);
    return sum;
  }
  if (a == Dim(0)) return b;
  if (b == Dim(0)) return a;
  static thread_local Results sums;
  return sums.of(a, b, [&] {
    Dim::Polynomial result;
    result.terms = Dim::Polynomial::terms_of(a);
    std::ranges::move(Dim::Polynomial::terms_of(b), std::back_inserter(result.terms));
    if (!normalize(result.terms)) throw_overflow(a, '+', b);
    return Dim::from_terms(std::move(result));
  });
}

Dim operator-(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.value_, b.value_, &difference)) throw_overflow(a, '-', b);
    return difference;
  }
  if (a == b) return 0;
  return a + Dim(-1) * b;
}

Dim operator*(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.value_, b.value_, &product)) throw_overflow(a, '*', b);
    return product;
  }
  if (a == Dim(1)) return b;
  if (b == Dim(1)) return a;
  static thread_local Results products;
  return products.of(a, b, [&] {
    Dim::Polynomial result;
    for (const Term& x : Dim::Polynomial::terms_of(a)) {
      for (const Term& y : Dim::Polynomial::terms_of(b)) {
        Term term{0, x.factors};
        if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) {
          throw_overflow(a, '*', b);
        }
        term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
        std::ranges::sort(term.factors, name_less);
        result.terms.push_back(std::move(term));
      }
    }
    if (!normalize(result.terms)) throw_overflow(a, '*', b);
    return Dim::from_terms(std::move(result));
  });
}

}  // namespace heddle::ir
