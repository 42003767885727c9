#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/nnet.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/evaluate/checks.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "frontend/linalg/failures.h"

namespace heddle::nnet {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;

Array relu(const Operand& x) { return maximum(x, Operand(Scalar(0), x.where())); }

Array relu_d(const Operand& x) {
  const AtLocation here(x);
  return astype(here(greater_equal(x, here(Scalar(0)))), frontend::node_of("relu_d", x)->dtype);
}

Array sigmoid(const Operand& x) {
  const AtLocation here(x);
  const Array power = exp(here(negative(x)));
  return divide(here(Scalar(1)), here(add(here(power), here(Scalar(1)))));
}

Array sigmoid_d(const Operand& x) {
  const AtLocation here(x);
  const Array s = sigmoid(x);
  return multiply(here(s), here(subtract(here(Scalar(1)), here(s))));
}

Array tanh_d(const Operand& x) {
  const AtLocation here(x);
  return subtract(here(Scalar(1)), here(square(here(tanh(x)))));
}

Array softplus(const Operand& x) { return logaddexp(x, Operand(Scalar(0), x.where())); }

Array softplus_d(const Operand& x) { return sigmoid(x); }

Array softmax(const Operand& x) {
  const AtLocation here(x);
  frontend::require_rank("softmax", frontend::node_of("softmax", x), 2, x.where());
  const Array e = exp(here(subtract(x, here(max(x, 1, true)))));
  return divide(here(e), here(sum(here(e), 1, true)));
}

Array categorical_cross_entropy(const Operand& y_pred, const Operand& y_true, double eps) {
  const AtLocation here(y_pred);
  frontend::require_rank("categorical_cross_entropy",
                         frontend::node_of("categorical_cross_entropy", y_pred), 2, here.where);
  const Array clipped = clip(y_pred, Scalar(eps), Scalar(1 - eps));
  const Array normal = divide(here(clipped), here(sum(here(clipped), 1, true)));
  return negative(here(sum(here(multiply(y_true, here(log(here(normal))))), 1)));
}

namespace {

/// The next wait throws IndexError for the first label that is no class.
void check_labels(const Array& labels, std::int64_t n_classes, const AtLocation& here) {
  const Array below = less(here(labels), here(Scalar(0)));
  const Array above = greater_equal(here(labels), here(Scalar(n_classes)));
  const Array wrong = astype(here(logical_or(here(below), here(above))), DType::i32);
  auto message = [n_classes, where = here.where](std::int64_t position) {
    return at(fmt::format("one_hot_encode: the label at position {} is not in [0, {})", position,
                          n_classes),
              where);
  };
  frontend::Check check{
      frontend::first_failure(Access::node(wrong, here.where), here.where),
      std::make_shared<const std::function<std::string(std::int64_t)>>(std::move(message)),
      frontend::FailureKind::index};
  frontend::check_recorded("one_hot_encode", std::move(check), {},
                           frontend::RaiseFailure::at_next_wait, here.where);
}

}  // namespace

Array one_hot_encode(const Operand& labels, std::int64_t n_classes, DType dtype) {
  const AtLocation here(labels);
  const NodeRef node = frontend::node_of("one_hot_encode", labels);
  if (!is_integer(node->dtype)) {
    throw DTypeError(at(fmt::format("one_hot_encode({}): labels are integers; cast with astype",
                                    frontend::describe(*node)),
                        here.where));
  }
  if (n_classes < 0) {
    throw ValueError(
        at(fmt::format("one_hot_encode: n_classes {} is negative", n_classes), here.where));
  }
  const ir::Dim count = ir::element_count(node->shape);
  const Array flat = Access::make(frontend::reshape_to(node, {count}, here.where));
  check_labels(flat, n_classes, here);
  const Array column = Access::make(frontend::reshape_to(node, {count, 1}, here.where));
  const Array classes = Access::make(frontend::record_iota({n_classes}, 0, DType::i64, here.where));
  return astype(here(equal(here(column), here(classes))), dtype);
}

Array one_hot_decode(const Operand& one_hot) {
  const AtLocation here(one_hot);
  frontend::require_rank("one_hot_decode", frontend::node_of("one_hot_decode", one_hot), 2,
                         here.where);
  return astype(here(argmax(one_hot, 1)), DType::i32);
}

}  // namespace heddle::nnet
