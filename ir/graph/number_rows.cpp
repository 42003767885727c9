#include "ir/graph/number_rows.h"

#include <algorithm>
#include <limits>

namespace heddle::ir {

bool same_in_all(const Row& row) {
  return std::ranges::all_of(row, [&](std::int64_t value) { return value == row.front(); });
}

std::optional<std::int64_t> constant_ratio(const Row& row, const Row& base) {
  std::optional<std::int64_t> ratio;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] < 0 || base[i] < 0) return std::nullopt;
    if (base[i] == 0) {
      if (row[i] != 0) return std::nullopt;
      continue;
    }
    const std::int64_t one = row[i] / base[i];
    if (row[i] % base[i] != 0 || ratio.value_or(one) != one) return std::nullopt;
    ratio = one;
  }
  return ratio;
}

std::optional<std::int64_t> constant_difference(const Row& row, const Row& base) {
  std::optional<std::int64_t> difference;
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::int64_t one = 0;
    if (__builtin_sub_overflow(row[i], base[i], &one) || difference.value_or(one) != one)
      return std::nullopt;
    difference = one;
  }
  return difference;
}

std::optional<std::int64_t> constant_sum(const Row& row, const Row& other) {
  std::optional<std::int64_t> sum;
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::int64_t one = 0;
    if (__builtin_add_overflow(row[i], other[i], &one) || sum.value_or(one) != one)
      return std::nullopt;
    sum = one;
  }
  return sum;
}

std::optional<Line> line_through(const Row& row, const Row& base) {
  const auto other =
      std::ranges::find_if(base, [&](std::int64_t value) { return value != base.front(); });
  if (other == base.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(other - base.begin());
  std::int64_t run = 0, rise = 0;
  if (__builtin_sub_overflow(*other, base.front(), &run) ||
      __builtin_sub_overflow(row[place], row.front(), &rise) ||
      rise == std::numeric_limits<std::int64_t>::min() || rise % run != 0) {
    return std::nullopt;
  }
  const std::int64_t factor = rise / run;
  Row multiple = base;
  for (std::int64_t& value : multiple) {
    if (__builtin_mul_overflow(value, factor, &value)) return std::nullopt;
  }
  const auto rest = constant_difference(row, multiple);
  return rest ? std::optional(Line{factor, *rest}) : std::nullopt;
}

std::optional<Dim> Expressions::find(const Row& row) const {
  const auto known = known_.find(row);
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<Dim> Expressions::derive(const Row& row) const {
  for (const auto& [base, dim] : bases_) {
    if (const auto factor = constant_ratio(row, base)) return dim * Dim(*factor);
    if (const auto rest = constant_difference(row, base)) return dim + Dim(*rest);
    if (const auto sum = constant_sum(row, base)) return Dim(*sum) - dim;
  }
  for (const auto& [base, dim] : bases_) {
    if (const auto line = row.size() > 2 ? line_through(row, base) : std::nullopt)
      return Dim(line->factor) * dim + Dim(line->rest);
  }
  return derive_from_two(row);
}

std::optional<Dim> Expressions::derive_from_two(const Row& row) const {
  for (const auto& [a, first] : bases_) {
    for (const auto& [b, second] : bases_) {
      Row product = a, sum = a, difference = a;
      bool fits = true;
      for (std::size_t i = 0; i < row.size(); ++i) {
        fits &= !__builtin_mul_overflow(a[i], b[i], &product[i]);
        fits &= !__builtin_add_overflow(a[i], b[i], &sum[i]);
        fits &= !__builtin_sub_overflow(a[i], b[i], &difference[i]);
      }
      if (!fits) continue;
      if (const auto factor = constant_ratio(row, product)) return first * second * Dim(*factor);
      if (const auto rest = constant_difference(row, sum)) return first + second + Dim(*rest);
      if (const auto rest = constant_difference(row, difference))
        return first - second + Dim(*rest);
      if (const auto rest = constant_sum(row, sum)) return Dim(*rest) - first - second;
    }
  }
  return std::nullopt;
}

}  // namespace heddle::ir
