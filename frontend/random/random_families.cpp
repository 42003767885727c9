// Distributions with sampling ops in the op table, and distributions composed of them.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/joining.h"
#include "heddle/random.h"
#include "heddle/reductions.h"
#include "heddle/scans.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"
#include "frontend/random/draw.h"

namespace heddle::random {

using frontend::Access;
using frontend::at;
using frontend::Draw;
using frontend::NodeRef;
using ir::Op;

namespace {

constexpr std::string_view probability = "the probability must be from 0 to 1";
bool is_probability(double value) { return value >= 0 && value <= 1; }

/// Extent of the last axis, which holds the parameters of one sample.
std::int64_t last_extent(std::string_view op, const Array& array, SourceLocation where) {
  const NodeRef node = Access::node(array, where);
  frontend::require_rank(op, node, 1, where);
  const std::int64_t extent = frontend::constant_extent(op, node, rank_of(node) - 1, where);
  if (extent == 0) {
    throw ValueError(
        at(fmt::format("{}: there are no categories in {}", op, describe(*node)), where));
  }
  return extent;
}

Array column(const Array& array, std::int64_t i, SourceLocation where) {
  return array.index({ellipsis, i}, where);
}

/// Extent of a 1-d list that each sample uses as a whole.
std::int64_t list_extent(std::string_view op, const Array& array, SourceLocation where) {
  const NodeRef node = Access::node(array, where);
  if (rank_of(node) != 1) {
    throw ShapeError(
        at(fmt::format("{}: the argument must be 1-d, not {}", op, describe(*node)), where));
  }
  return last_extent(op, array, where);
}

}  // namespace

Array Generator::standard_gamma(const Operand& shape, const Shape& size, DType dtype) {
  const Draw draw(state_, "standard_gamma", size, dtype, {&shape}, shape.where());
  draw.require_not_negative(shape, "the shape must not be negative");
  return draw.result(draw.gamma(shape));
}

Array Generator::gamma(const Operand& shape, const Operand& scale, const Shape& size, DType dtype) {
  const Draw draw(state_, "gamma", size, dtype, {&shape, &scale}, shape.where());
  draw.require_not_negative(shape, "the shape must not be negative");
  draw.require_scale(scale);
  return draw.result(draw.gamma(shape) * scale);
}

Array Generator::beta(const Operand& a, const Operand& b, const Shape& size, DType dtype) {
  const Draw draw(state_, "beta", size, dtype, {&a, &b}, a.where());
  draw.require_positive(a, "a must be positive");
  draw.require_positive(b, "b must be positive");
  const Array of_a = draw.log_gamma(a), of_b = draw.log_gamma(b);
  return draw.result(1.0 / (exp(of_b - of_a) + 1.0));
}

Array Generator::chisquare(const Operand& df, const Shape& size, DType dtype) {
  const Draw draw(state_, "chisquare", size, dtype, {&df}, df.where());
  draw.require_positive(df, "the degrees of freedom must be positive");
  return draw.result(draw.chisquare(df));
}

Array Generator::noncentral_chisquare(const Operand& df, const Operand& nonc, const Shape& size,
                                      DType dtype) {
  const Draw draw(state_, "noncentral_chisquare", size, dtype, {&df, &nonc}, df.where());
  draw.require_positive(df, "the degrees of freedom must be positive");
  draw.require_not_negative(nonc, "the non-centrality must not be negative");
  return draw.result(draw.noncentral_chisquare(df, nonc));
}

Array Generator::f(const Operand& dfnum, const Operand& dfden, const Shape& size, DType dtype) {
  const Draw draw(state_, "f", size, dtype, {&dfnum, &dfden}, dfnum.where());
  draw.require_positive(dfnum, "the degrees of freedom must be positive");
  draw.require_positive(dfden, "the degrees of freedom must be positive");
  const Array above = draw.chisquare(dfnum), below = draw.chisquare(dfden);
  return draw.result(above / draw.in_double(dfnum) / (below / draw.in_double(dfden)));
}

Array Generator::noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc,
                              const Shape& size, DType dtype) {
  const Draw draw(state_, "noncentral_f", size, dtype, {&dfnum, &dfden, &nonc}, dfnum.where());
  draw.require_positive(dfnum, "the degrees of freedom must be positive");
  draw.require_positive(dfden, "the degrees of freedom must be positive");
  draw.require_not_negative(nonc, "the non-centrality must not be negative");
  const Array above = draw.noncentral_chisquare(dfnum, nonc), below = draw.chisquare(dfden);
  return draw.result(above / draw.in_double(dfnum) / (below / draw.in_double(dfden)));
}

Array Generator::standard_t(const Operand& df, const Shape& size, DType dtype) {
  const Draw draw(state_, "standard_t", size, dtype, {&df}, df.where());
  draw.require_positive(df, "the degrees of freedom must be positive");
  const Array normal = draw.normal(), variance = draw.chisquare(df) / draw.in_double(df);
  return draw.result(normal / sqrt(variance));
}

/// J. R. Michael, W. R. Schucany and R. W. Haas, Generating random variates using transformations
/// with multiple roots, 1976. The transformation has two roots, whose product is the square of the
/// mean. The smaller root is computed without cancellation, and one of the two is chosen.
Array Generator::wald(const Operand& mean, const Operand& scale, const Shape& size, DType dtype) {
  const Draw draw(state_, "wald", size, dtype, {&mean, &scale}, mean.where());
  draw.require_positive(mean, "the mean must be positive");
  draw.require_positive(scale, "the scale must be positive");
  const Array center = draw.in_double(mean);
  const Array w = center * square(draw.normal()) / (draw.in_double(scale) * 2.0);
  const Array lesser = 1.0 / (w + 1.0 + sqrt(w * (w + 2.0)));
  const Array chosen = where(draw.open_double() * (lesser + 1.0) <= 1.0, lesser, 1.0 / lesser);
  return draw.result(center * chosen);
}

Array Generator::vonmises(const Operand& mu, const Operand& kappa, const Shape& size, DType dtype) {
  const Draw draw(state_, "vonmises", size, dtype, {&mu, &kappa}, mu.where());
  draw.require_not_negative(kappa, "the concentration must not be negative");
  constexpr double pi = std::numbers::pi;
  const Array angle = draw.sample(Op::philox_vonmises, {&kappa}) + draw.in_double(mu);
  return draw.result(remainder(angle + pi, 2 * pi) - pi);
}

Array Generator::dirichlet(const Array& alpha, const Shape& size, DType dtype,
                           SourceLocation where) {
  Shape whole = size;
  whole.push_back(list_extent("dirichlet", alpha, where));
  const Operand shapes(alpha, where);
  const Draw draw(state_, "dirichlet", whole, dtype, {&shapes}, where);
  // In logarithms, so that small values of alpha do not give 0 / 0.
  const Array logarithms = draw.log_gamma(shapes);
  const Array weights = exp(logarithms - max(logarithms, -1, true));
  return draw.result(weights / sum(weights, -1, true));
}

Array Generator::poisson(const Operand& lam, const Shape& size) {
  const Draw draw(state_, "poisson", size, DType::f64, {&lam}, lam.where());
  draw.require(
      lam, [](double value) { return value >= 0 && value <= 9.2233720064847708e18; },
      "the mean must not be negative, nor so large that numbers exceed int64");
  return draw.whole(draw.sample(Op::philox_poisson, {&lam}));
}

Array Generator::binomial(const Operand& n, const Operand& p, const Shape& size) {
  const Draw draw(state_, "binomial", size, DType::f64, {&n, &p}, n.where());
  draw.require_not_negative(n, "the number of trials must not be negative");
  draw.require(p, is_probability, probability);
  return draw.whole(draw.sample(Op::philox_binomial, {&n, &p}));
}

/// A Poisson number whose mean is gamma-distributed.
Array Generator::negative_binomial(const Operand& n, const Operand& p, const Shape& size) {
  const Draw draw(state_, "negative_binomial", size, DType::f64, {&n, &p}, n.where());
  draw.require_positive(n, "the number of successes must be positive");
  draw.require(
      p, [](double value) { return value > 0 && value <= 1; },
      "the probability must be above 0 and at most 1");
  const Array chance = draw.in_double(p);
  const Array mean = draw.gamma(n) * (1.0 - chance) / chance;
  const Operand of_mean(mean, n.where());
  return draw.whole(draw.sample(Op::philox_poisson, {&of_mean}));
}

Array Generator::hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample,
                                const Shape& size) {
  const Draw draw(state_, "hypergeometric", size, DType::f64, {&ngood, &nbad, &nsample},
                  ngood.where());
  for (const Operand* count : {&ngood, &nbad, &nsample})
    draw.require_not_negative(*count, "the numbers must not be negative");
  if (ngood.array() == nullptr && nbad.array() == nullptr) {
    const double all = frontend::value_of(ngood.scalar()) + frontend::value_of(nbad.scalar());
    draw.require(ngood, [&](double) { return all <= 0x1p53; }, "ngood + nbad must be below 2^53");
    draw.require(
        nsample, [&](double value) { return value <= all; },
        "the sample must not exceed ngood + nbad");
  }
  return draw.whole(draw.sample(Op::philox_hypergeometric, {&ngood, &nbad, &nsample}));
}

Array Generator::zipf(const Operand& a, const Shape& size) {
  const Draw draw(state_, "zipf", size, DType::f64, {&a}, a.where());
  draw.require(a, [](double value) { return value > 1; }, "the exponent must be above 1");
  return draw.whole(draw.sample(Op::philox_zipf, {&a}));
}

/// A. W. Kemp, Efficient generation of logarithmically distributed pseudo-random variables, 1981.
Array Generator::logseries(const Operand& p, const Shape& size) {
  const Draw draw(state_, "logseries", size, DType::f64, {&p}, p.where());
  draw.require(
      p, [](double value) { return value >= 0 && value < 1; },
      "the probability must be at least 0 and below 1");
  const Array chance = draw.in_double(p), v = draw.open_double();
  const Array q = -expm1(log1p(-chance) * draw.open_double());
  const Array many = maximum(floor(log(v) / log(q) + 1.0), 1.0);
  const Array found = where(v >= chance, 1.0, where(v <= q * q, many, where(v >= q, 1.0, 2.0)));
  const Array valid = logical_and(chance >= 0.0, chance < 1.0);
  return draw.whole(where(valid, found, -1.0));
}

/// Each category is a binomial sample of the trials that the previous categories left.
Array Generator::multinomial(const Operand& n, const Array& pvals, const Shape& size) {
  const SourceLocation where = n.where();
  const std::int64_t count = last_extent("multinomial", pvals, where);
  const Array first = column(pvals, 0, where);
  const Operand first_operand(first, where);
  const Draw draw(state_, "multinomial", size, DType::f64, {&n, &first_operand}, where);
  draw.require_not_negative(n, "the number of trials must not be negative");
  const Array p = draw.in_double({pvals, where});
  const Array before = cumsum(p, -1) - p;
  const Array chances = minimum(p / maximum(1.0 - before, 0x1p-1022), 1.0);
  Array left = draw.in_double(n);
  std::vector<Array> found;
  for (std::int64_t i = 0; i + 1 < count; ++i) {
    const Array chance = column(chances, i, where);
    const Operand trials(left, where), of_chance(chance, where);
    found.push_back(draw.sample(Op::philox_binomial, {&trials, &of_chance}));
    left = left - found.back();
  }
  found.push_back(draw.sized(left));
  return draw.whole(stack(found, -1, where));
}

/// Each colour is a hypergeometric sample of the items that the previous colours left.
Array Generator::multivariate_hypergeometric(const Array& colors, const Operand& nsample,
                                             const Shape& size) {
  const SourceLocation where = nsample.where();
  const std::int64_t count = list_extent("multivariate_hypergeometric", colors, where);
  const Draw draw(state_, "multivariate_hypergeometric", size, DType::f64, {&nsample}, where);
  draw.require_not_negative(nsample, "the sample must not be negative");
  const Array numbers = draw.in_double({colors, where});
  const Array behind = sum(numbers, -1, true) - cumsum(numbers, -1);
  Array left = draw.in_double(nsample);
  std::vector<Array> found;
  for (std::int64_t i = 0; i < count; ++i) {
    const Array good = column(numbers, i, where), bad = column(behind, i, where);
    const Operand of_good(good, where), of_bad(bad, where), sample(left, where);
    found.push_back(draw.sample(Op::philox_hypergeometric, {&of_good, &of_bad, &sample}));
    left = left - found.back();
  }
  return draw.whole(stack(found, -1, where));
}

}  // namespace heddle::random
