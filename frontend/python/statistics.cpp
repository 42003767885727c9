#include "heddle/statistics.h"

#include "frontend/python/bindings.h"

namespace heddle::python {

void bind_statistics(Functions& functions) {
  functions.def(
      "average(a: Array, axis: Axis = None, weights: Array | None = None, returned: bool = "
      "False, *, keepdims: bool = False) -> Array | tuple[Array, Array]",
      "The weighted mean over axes: numpy.average. The weights have the shape of a or of the axes. "
      "With `returned`, the tuple (mean, sum of the weights). If that sum is 0 the result is inf "
      "or NaN.\n\n"
      "Raises ShapeError for weights of another shape.\n\n"
      "Example: hd.average(x, axis=0, weights=w)",
      [](const Arguments& a) {
        auto found = average_returned(a.operand(0), a.axes(1), a.optional_array(2), a.flag(4));
        return a.flag(3) ? to_result(std::move(found)) : wrap(std::move(found.first));
      });
  functions.give_variables(true);
  functions.def(
      "cov(m: Array, y: Array | None = None, rowvar: bool = True, bias: bool = False, ddof: int "
      "| None = None, fweights: Array | None = None, aweights: Array | None = None, *, dtype: "
      "DTypeLike | None = None) -> Array",
      "The covariance matrix of variables in rows, or in columns with rowvar=False: numpy.cov. The "
      "divisor is n - ddof; ddof is 1 by default, or 0 with `bias`. fweights are the number of "
      "repetitions and aweights the weight of each observation.\n\n"
      "Raises ShapeError for more than two axes.",
      [](const Arguments& a) {
        CovarianceOptions options;
        options.y = a.optional_array(1);
        options.rowvar = a.flag(2);
        options.bias = a.flag(3);
        options.ddof = a.optional_integer(4);
        options.fweights = a.optional_array(5);
        options.aweights = a.optional_array(6);
        options.dtype = a.dtype(7);
        return cov(a.operand(0), options);
      });
  functions.give_variables(false);
  functions.def(
      "corrcoef(x: Array, y: Array | None = None, rowvar: bool = True, *, dtype: DTypeLike | "
      "None = None) -> Array",
      "The matrix of correlation coefficients, in [-1, 1], of variables in rows, or in columns "
      "with rowvar=False: numpy.corrcoef.",
      [](const Arguments& a) {
        return corrcoef(a.operand(0), a.optional_array(1), a.flag(2), a.dtype(3));
      });
}

}  // namespace heddle::python
