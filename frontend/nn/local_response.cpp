#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/nnet.h"
#include "heddle/polynomials.h"
#include "heddle/rearranging.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"

namespace heddle::nnet {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;

namespace {

/// The normalisation of images by n channels: from n / 2 before an element's to (n - 1) / 2 after.
class LocalResponse {
 public:
  LocalResponse(const Operand& imgs, std::int64_t n, double alpha, double beta, double k)
      : here_(imgs), n_(n), alpha_(alpha), beta_(beta), k_(k) {
    const NodeRef node = frontend::node_of("lrnorm_bc01", imgs);
    if (frontend::rank_of(node) != 4 || !is_floating(node->dtype)) {
      throw ShapeError(at(fmt::format("lrnorm_bc01({}): takes images [batch, channels, height, "
                                      "width] of a floating dtype",
                                      frontend::describe(*node)),
                          here_.where));
    }
    if (n < 1) {
      throw ValueError(at(
          fmt::format("lrnorm_bc01: n is {}, but at least one channel is summed", n), here_.where));
    }
    images_ = Access::make(node);
    const Array squares = summed(square(here_(images_)), n / 2, (n - 1) / 2);
    scale_ = add(here_(scaled(squares, alpha_)), here_(Scalar(k_)));
  }

  Array result() const { return multiply(here_(images_), here_(powered(-beta_))); }

  /// dx = d scale^-beta - 2 alpha beta x sum(d x scale^(-beta - 1)), over the elements whose sums
  /// x is in.
  Array gradient(const Array& d) const {
    const Array direct = multiply(here_(d), here_(powered(-beta_)));
    const Array shared =
        multiply(here_(multiply(here_(d), here_(images_))), here_(powered(-beta_ - 1)));
    const Array others = summed(shared, (n_ - 1) / 2, n_ / 2);
    const Array indirect = multiply(here_(images_), here_(scaled(others, 2 * alpha_ * beta_)));
    return subtract(here_(direct), here_(indirect));
  }

 private:
  /// The sums over the channels from `before` before an element's to `after` after it.
  Array summed(const Array& x, std::int64_t before, std::int64_t after) const {
    const Array padded = pad(here_(x), {{0, 0}, {before, after}, {0, 0}, {0, 0}});
    return sum(here_(sliding_window_view(here_(padded), n_, 1)), -1);
  }
  Array scaled(const Array& x, double factor) const {
    return multiply(here_(x), here_(Scalar(factor)));
  }
  Array powered(double exponent) const { return power(here_(scale_), here_(Scalar(exponent))); }

  AtLocation here_;
  std::int64_t n_;
  double alpha_, beta_, k_;
  Array images_, scale_;
};

}  // namespace

Array lrnorm_bc01(const Operand& imgs, std::int64_t n, double alpha, double beta, double k) {
  return LocalResponse(imgs, n, alpha, beta, k).result();
}

Array lrnorm_bc01_bprop(const Operand& imgs, const Operand& out_d, std::int64_t n, double alpha,
                        double beta, double k) {
  return LocalResponse(imgs, n, alpha, beta, k)
      .gradient(Access::make(frontend::node_of("lrnorm_bc01_bprop", out_d)));
}

}  // namespace heddle::nnet
