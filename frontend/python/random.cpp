#include "heddle/random.h"

#include <optional>

#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include "heddle/bulk_random.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"

namespace heddle::python {
namespace {

using random::Bulk;
using random::Generator;

Generator& self(const Arguments& a) { return nb::cast<Generator&>(a[0]); }

Shape size_of(const Arguments& a, std::size_t i) { return a.is_none(i) ? Shape() : a.shape(i); }

constexpr const char* size_and_dtype =
    "size: int | tuple[int, ...] | None = None, dtype: DTypeLike | None = None) -> Array";

constexpr const char* size_dtype_and_out =
    "size: int | tuple[int, ...] | None = None, dtype: DTypeLike | None = None, out: Array | None "
    "= None) -> Array";

/// Shape and dtype of the sample; those of `out`, if given.
struct Drawn {
  Shape size;
  DType dtype;
};
Drawn drawn(const Arguments& a, std::size_t size, std::size_t dtype, std::size_t out) {
  Drawn result{size_of(a, size), a.dtype(dtype, DType::f64)};
  if (a.is_none(out)) return result;
  const Array& target = a.array(out);
  if (target.dtype() != result.dtype) {
    raise(PyExc_TypeError, fmt::format("out is {}, but the numbers are {}; set dtype",
                                       numpy_name_of(target.dtype()), numpy_name_of(result.dtype)));
  }
  if (!a.is_none(size) && result.size != target.shape())
    raise(PyExc_ValueError, "size must equal the shape of out if both are given");
  result.size = target.shape();
  return result;
}

/// Checks the name of one of NumPy's sampling methods, all of which give the same numbers here.
void check_method(const Arguments& a, std::size_t i, const char* first, const char* second) {
  const std::string name = a.text(i);
  if (name == first || name == second) return;
  raise(PyExc_ValueError,
        fmt::format("method must be '{}' or '{}', not '{}'", first, second, name));
}

/// Binds a method whose parameters are only size and dtype, and perhaps out.
template <class Implement>
void def_standard(Functions& functions, nb::handle owner, const char* name, const char* what,
                  const char* parameters, Implement implement) {
  functions.def_in(
      owner, fmt::format("{}(self, {}", name, parameters),
      fmt::format("Samples from {}, float64 by default: numpy.random.Generator.{}.", what, name),
      implement);
}

/// Binds a method with distribution parameters, size and dtype.
template <class Implement>
void def_shaped(Functions& functions, nb::handle owner, const char* name, const char* parameters,
                const char* what, Implement implement) {
  functions.def_in(
      owner, fmt::format("{}(self, {}, {}", name, parameters, size_and_dtype),
      fmt::format("Samples from {}, float64 by default: numpy.random.Generator.{}. Raises "
                  "ValueError for parameters out of range, ShapeError if shapes do not broadcast.",
                  what, name),
      implement);
}

constexpr const char* location_and_scale = "loc: Operand = 0.0, scale: Operand = 1.0";

void def_normals(Functions& functions, nb::handle owner) {
  def_standard(functions, owner, "random", "the uniform distribution on [0, 1)", size_dtype_and_out,
               [](const Arguments& a) {
                 const Drawn like = drawn(a, 1, 2, 3);
                 return self(a).random(like.size, like.dtype, a.where());
               });
  def_standard(functions, owner, "standard_normal",
               "the normal distribution with mean 0 and standard deviation 1", size_dtype_and_out,
               [](const Arguments& a) {
                 const Drawn like = drawn(a, 1, 2, 3);
                 return self(a).standard_normal(like.size, like.dtype, a.where());
               });
  def_standard(functions, owner, "standard_exponential",
               "the exponential distribution with mean 1 (every `method` gives the same)",
               "size: int | tuple[int, ...] | None = None, dtype: DTypeLike | None = None, method: "
               "str = 'zig', out: Array | None = None) -> Array",
               [](const Arguments& a) {
                 check_method(a, 3, "zig", "inv");
                 const Drawn like = drawn(a, 1, 2, 4);
                 return self(a).standard_exponential(like.size, like.dtype, a.where());
               });
  def_standard(functions, owner, "standard_cauchy", "the Cauchy distribution", size_and_dtype,
               [](const Arguments& a) {
                 return self(a).standard_cauchy(size_of(a, 1), a.dtype(2, DType::f64), a.where());
               });
  def_shaped(functions, owner, "uniform", "low: Operand = 0.0, high: Operand = 1.0",
             "the uniform distribution on [low, high)", [](const Arguments& a) {
               return self(a).uniform(a.operand(1), a.operand(2), size_of(a, 3),
                                      a.dtype(4, DType::f64));
             });
  def_shaped(functions, owner, "normal", location_and_scale, "the normal distribution",
             [](const Arguments& a) {
               return self(a).normal(a.operand(1), a.operand(2), size_of(a, 3),
                                     a.dtype(4, DType::f64));
             });
  def_shaped(functions, owner, "lognormal", "mean: Operand = 0.0, sigma: Operand = 1.0",
             "the log-normal distribution", [](const Arguments& a) {
               return self(a).lognormal(a.operand(1), a.operand(2), size_of(a, 3),
                                        a.dtype(4, DType::f64));
             });
}

void def_locations(Functions& functions, nb::handle owner) {
  def_shaped(functions, owner, "laplace", location_and_scale, "the Laplace distribution",
             [](const Arguments& a) {
               return self(a).laplace(a.operand(1), a.operand(2), size_of(a, 3),
                                      a.dtype(4, DType::f64));
             });
  def_shaped(functions, owner, "logistic", location_and_scale, "the logistic distribution",
             [](const Arguments& a) {
               return self(a).logistic(a.operand(1), a.operand(2), size_of(a, 3),
                                       a.dtype(4, DType::f64));
             });
  def_shaped(functions, owner, "gumbel", location_and_scale, "the Gumbel distribution",
             [](const Arguments& a) {
               return self(a).gumbel(a.operand(1), a.operand(2), size_of(a, 3),
                                     a.dtype(4, DType::f64));
             });
  def_shaped(functions, owner, "triangular", "left: Operand, mode: Operand, right: Operand",
             "the triangular distribution", [](const Arguments& a) {
               return self(a).triangular(a.operand(1), a.operand(2), a.operand(3), size_of(a, 4),
                                         a.dtype(5, DType::f64));
             });
}

template <Array (Generator::*method)(const Operand&, const Shape&, DType)>
Array of_one(const Arguments& a) {
  return (self(a).*method)(a.operand(1), size_of(a, 2), a.dtype(3, DType::f64));
}

template <Array (Generator::*method)(const Operand&, const Operand&, const Shape&, DType)>
Array of_two(const Arguments& a) {
  return (self(a).*method)(a.operand(1), a.operand(2), size_of(a, 3), a.dtype(4, DType::f64));
}

/// An Array, or an array-like such as a list.
Array values_of(const Arguments& a, std::size_t i) {
  return as_array(a[i]) != nullptr ? a.array(i) : from_python(a[i], std::nullopt, a.where());
}

void def_shapes(Functions& functions, nb::handle owner) {
  def_shaped(functions, owner, "exponential", "scale: Operand = 1.0",
             "the exponential distribution",
             [](const Arguments& a) { return of_one<&Generator::exponential>(a); });
  def_shaped(functions, owner, "rayleigh", "scale: Operand = 1.0", "the Rayleigh distribution",
             [](const Arguments& a) { return of_one<&Generator::rayleigh>(a); });
  def_shaped(functions, owner, "weibull", "a: Operand", "the Weibull distribution",
             [](const Arguments& a) { return of_one<&Generator::weibull>(a); });
  def_shaped(functions, owner, "pareto", "a: Operand", "the Pareto II (Lomax) distribution",
             [](const Arguments& a) { return of_one<&Generator::pareto>(a); });
  def_shaped(functions, owner, "power", "a: Operand", "the power distribution",
             [](const Arguments& a) { return of_one<&Generator::power>(a); });
}

void def_gammas(Functions& functions, nb::handle owner) {
  functions.def_in(owner,
                   fmt::format("standard_gamma(self, shape: Operand, {}", size_dtype_and_out),
                   "Samples from the gamma distribution with scale 1, float64 by default: "
                   "numpy.random.Generator.standard_gamma. Raises ValueError for a negative shape, "
                   "ShapeError if shapes do not broadcast.",
                   [](const Arguments& a) {
                     const Drawn like = drawn(a, 2, 3, 4);
                     return self(a).standard_gamma(a.operand(1), like.size, like.dtype);
                   });
  def_shaped(functions, owner, "gamma", "shape: Operand, scale: Operand = 1.0",
             "the gamma distribution",
             [](const Arguments& a) { return of_two<&Generator::gamma>(a); });
  def_shaped(functions, owner, "beta", "a: Operand, b: Operand", "the beta distribution",
             [](const Arguments& a) { return of_two<&Generator::beta>(a); });
  def_shaped(functions, owner, "chisquare", "df: Operand", "the chi-square distribution",
             [](const Arguments& a) { return of_one<&Generator::chisquare>(a); });
  def_shaped(functions, owner, "noncentral_chisquare", "df: Operand, nonc: Operand",
             "the noncentral chi-square distribution",
             [](const Arguments& a) { return of_two<&Generator::noncentral_chisquare>(a); });
  def_shaped(functions, owner, "f", "dfnum: Operand, dfden: Operand", "the F distribution",
             [](const Arguments& a) { return of_two<&Generator::f>(a); });
  def_shaped(functions, owner, "noncentral_f", "dfnum: Operand, dfden: Operand, nonc: Operand",
             "the noncentral F distribution", [](const Arguments& a) {
               return self(a).noncentral_f(a.operand(1), a.operand(2), a.operand(3), size_of(a, 4),
                                           a.dtype(5, DType::f64));
             });
  def_shaped(functions, owner, "standard_t", "df: Operand", "Student's t distribution",
             [](const Arguments& a) { return of_one<&Generator::standard_t>(a); });
  def_shaped(functions, owner, "wald", "mean: Operand, scale: Operand",
             "the inverse normal (Wald) distribution",
             [](const Arguments& a) { return of_two<&Generator::wald>(a); });
  def_shaped(functions, owner, "vonmises", "mu: Operand, kappa: Operand",
             "the von Mises distribution (angles in [-pi, pi) around mu)",
             [](const Arguments& a) { return of_two<&Generator::vonmises>(a); });
  def_shaped(functions, owner, "dirichlet", "alpha: Any",
             "the Dirichlet distribution (a new last axis contains each sample, which sums to 1)",
             [](const Arguments& a) {
               return self(a).dirichlet(values_of(a, 1), size_of(a, 2), a.dtype(3, DType::f64),
                                        a.where());
             });
}

/// Binds a method that returns counts, with distribution parameters and size.
template <class Implement>
void def_count(Functions& functions, nb::handle owner, const char* name, const char* parameters,
               const char* what, Implement implement) {
  functions.def_in(
      owner,
      fmt::format("{}(self, {}, size: int | tuple[int, ...] | None = None) -> Array", name,
                  parameters),
      fmt::format("Samples from {}, as int64: numpy.random.Generator.{}. Raises ValueError for "
                  "parameters out of range, ShapeError if shapes do not broadcast. If elements of "
                  "parameter arrays are out of range, the result there is -1.",
                  what, name),
      implement);
}

void def_counts(Functions& functions, nb::handle owner) {
  def_count(functions, owner, "poisson", "lam: Operand = 1.0", "the Poisson distribution",
            [](const Arguments& a) { return self(a).poisson(a.operand(1), size_of(a, 2)); });
  def_count(functions, owner, "binomial", "n: Operand, p: Operand",
            "the binomial distribution (successes in n trials)", [](const Arguments& a) {
              return self(a).binomial(a.operand(1), a.operand(2), size_of(a, 3));
            });
  def_count(functions, owner, "negative_binomial", "n: Operand, p: Operand",
            "the negative binomial distribution (failures before n successes)",
            [](const Arguments& a) {
              return self(a).negative_binomial(a.operand(1), a.operand(2), size_of(a, 3));
            });
  def_count(functions, owner, "hypergeometric", "ngood: Operand, nbad: Operand, nsample: Operand",
            "the hypergeometric distribution (good items in a sample)", [](const Arguments& a) {
              return self(a).hypergeometric(a.operand(1), a.operand(2), a.operand(3),
                                            size_of(a, 4));
            });
  def_count(functions, owner, "zipf", "a: Operand", "the Zipf distribution",
            [](const Arguments& a) { return self(a).zipf(a.operand(1), size_of(a, 2)); });
  def_count(functions, owner, "logseries", "p: Operand", "the logarithmic series distribution",
            [](const Arguments& a) { return self(a).logseries(a.operand(1), size_of(a, 2)); });
  def_count(functions, owner, "multinomial", "n: Operand, pvals: Any",
            "the multinomial distribution (trials in each category, along a last axis)",
            [](const Arguments& a) {
              return self(a).multinomial(a.operand(1), values_of(a, 2), size_of(a, 3));
            });
  functions.def_in(
      owner,
      "multivariate_hypergeometric(self, colors: Any, nsample: Operand, size: int | tuple[int, "
      "...] | None = None, method: str = 'marginals') -> Array",
      "Samples from the multivariate hypergeometric distribution, as int64: "
      "numpy.random.Generator.multivariate_hypergeometric. A last axis contains the number of "
      "items of each colour. Every `method` gives the same. Raises ValueError for parameters out "
      "of range, ShapeError if shapes do not broadcast.",
      [](const Arguments& a) {
        check_method(a, 4, "marginals", "count");
        return self(a).multivariate_hypergeometric(values_of(a, 1), a.operand(2), size_of(a, 3));
      });
}

Array permutation(const Arguments& a) {
  const bool is_number = is_integer(a[1]);
  return is_number ? self(a).permutation(a.integer(1), a.where())
                   : self(a).permutation(values_of(a, 1), a.integer(2), a.where());
}

/// Shuffles a list, or an array of NumPy's, where it is.
nb::object shuffle_on_host(const Arguments& a) {
  const bool is_array = is_numpy_array(a[1]);
  if (!is_array && !PyList_Check(a[1].ptr())) a.mistyped(1, "an Array, a list, or NumPy's array");
  const nb::object given = nb::borrow(a[1]);
  if (!is_array) {
    if (a.integer(2) != 0) raise(PyExc_ValueError, "shuffle: a list has only axis 0; pass axis=0");
    const Array order = self(a).permutation(static_cast<std::int64_t>(nb::len(given)), a.where());
    nb::list shuffled;
    for (nb::handle i : to_list(order, a.where())) shuffled.append(given[i]);
    given[nb::slice(nb::none(), nb::none(), nb::none())] = shuffled;
    return nb::none();
  }
  const Array shuffled = self(a).permutation(values_of(a, 1), a.integer(2), a.where());
  given[nb::ellipsis()] = to_numpy(shuffled, a.where());
  return nb::none();
}

Array choice(const Arguments& a) {
  random::Choice how{.replace = a.flag(3)};
  if (!a.is_none(4)) how.p = values_of(a, 4);
  const bool is_number = is_integer(a[1]);
  if (is_number) return self(a).choice(a.integer(1), size_of(a, 2), how, a.where());
  return self(a).choice(values_of(a, 1), size_of(a, 2), how, a.integer(5), a.where());
}

void def_orders(Functions& functions, nb::handle owner) {
  functions.def_in(owner, "permutation(self, x: Any, axis: int = 0) -> Array",
                   "The integers below x in random order, or the slices of an array along an axis "
                   "in random order: numpy.random.Generator.permutation.",
                   [](const Arguments& a) { return permutation(a); });
  functions.def_in(
      owner,
      "permuted(self, x: Any, *, axis: int | None = None, out: Array | None = None) -> "
      "Array",
      "The array with each 1-d slice along the axis in its own random order, or with all elements "
      "in random order if axis is None: numpy.random.Generator.permuted. `out` may be x.",
      [](const Arguments& a) {
        return self(a).permuted(values_of(a, 1), a.optional_integer(2), a.where());
      });
  functions.def_in(owner, "shuffle(self, x: Array, axis: int = 0) -> None",
                   "Shuffles the slices of an array along an axis in place, or the items of a "
                   "list: numpy.random.Generator.shuffle.",
                   [](const Arguments& a) {
                     if (as_array(a[1]) == nullptr) return shuffle_on_host(a);
                     Array x = a.array(1);
                     self(a).shuffle(x, a.integer(2), a.where());
                     a.target(1).write(x, a.where());
                     return nb::object(nb::none());
                   });
  functions.def_in(
      owner,
      "choice(self, a: Any, size: int | tuple[int, ...] | None = None, replace: bool = True, "
      "p: Any = None, axis: int = 0, shuffle: bool = True) -> Array",
      "Random integers below a, or random slices of an array along an axis: "
      "numpy.random.Generator.choice. p are their probabilities, which are normalised. Without "
      "replacement they are in random order, also with shuffle=False. Raises ValueError if more "
      "are chosen without replacement than there are, ShapeError for a p of the wrong shape.",
      [](const Arguments& a) { return choice(a); });
  functions.def_in(
      owner, "bytes(self, length: int) -> bytes",
      "A bytes object of random bytes: numpy.random.Generator.bytes. Evaluates and waits.",
      [](const Arguments& a) -> nb::object {
        const auto bytes = self(a).bytes(a.integer(1), a.where());
        return nb::bytes(bytes.data(), bytes.size());
      });
}

void def_integers(Functions& functions, nb::handle owner) {
  functions.def_in(
      owner,
      "integers(self, low: Operand, high: Operand | None = None, size: int | tuple[int, ...] | "
      "None = None, dtype: DTypeLike | None = None, endpoint: bool = False) -> Array",
      "Uniform random integers in [low, high), or in [0, low) without high: "
      "numpy.random.Generator.integers. With endpoint, the upper bound is included. Raises "
      "ValueError for an empty range, DTypeError for a floating dtype.",
      [](const Arguments& a) {
        const Shape size = size_of(a, 3);
        const DType dtype = a.dtype(4, DType::i64);
        if (a.is_none(2))
          return self(a).integers({0, a.where()}, a.operand(1), size, dtype, a.flag(5));
        return self(a).integers(a.operand(1), a.operand(2), size, dtype, a.flag(5));
      });
  functions.def_in(
      owner, "geometric(self, p: Operand, size: int | tuple[int, ...] | None = None) -> Array",
      "Samples from the geometric distribution, as int64: numpy.random.Generator.geometric. The "
      "number of trials up to the first success.",
      [](const Arguments& a) { return self(a).geometric(a.operand(1), size_of(a, 2)); });
  functions.def_in(owner, "bits(self, size: int | tuple[int, ...] | None = None) -> Array",
                   "Elements of 64 random bits, as uint64.",
                   [](const Arguments& a) { return self(a).bits(size_of(a, 1), a.where()); });
  functions.def_in(owner, "spawn(self, n_children: int) -> list[Generator]",
                   "A list of independent generators: numpy.random.Generator.spawn.",
                   [](const Arguments& a) -> nb::object {
                     nb::list children;
                     const std::int64_t count = a.integer(1);
                     if (count > INT32_MAX) raise(PyExc_ValueError, "spawn: too many generators");
                     for (Generator& child : self(a).spawn(static_cast<int>(count), a.where()))
                       children.append(nb::cast(std::move(child)));
                     return children;
                   });
}

Bulk& bulk_of(const Arguments& a) { return nb::cast<Bulk&>(a[0]); }

void def_bulk(Functions& functions, nb::module_& module) {
  nb::class_<Bulk> owner(
      module, "Bulk",
      "A generator of NVIDIA's cuRAND, which fills whole arrays. Prefer Generator, which fuses "
      "into kernels. For points of several dimensions the last axis of size is the dimension. "
      "Raises TraceError inside a trace.");
  functions.def_in(owner, fmt::format("uniform(self, {}", size_and_dtype),
                   "Samples from the uniform distribution on (0, 1], as float64 or float32.",
                   [](const Arguments& a) {
                     return bulk_of(a).uniform(size_of(a, 1), a.dtype(2, DType::f64), a.where());
                   });
  functions.def_in(
      owner, fmt::format("normal(self, loc: float = 0.0, scale: float = 1.0, {}", size_and_dtype),
      "Samples from the normal distribution, as float64 or float32. Raises ValueError for a "
      "negative scale.",
      [](const Arguments& a) {
        return bulk_of(a).normal(a.number(1), a.number(2), size_of(a, 3), a.dtype(4, DType::f64),
                                 a.where());
      });
  functions.def_in(owner, "bits(self, size: int | tuple[int, ...] | None = None) -> Array",
                   "Elements of random bits: uint64 for the 64-bit sequences, uint32 for others.",
                   [](const Arguments& a) { return bulk_of(a).bits(size_of(a, 1), a.where()); });
  functions.def_in(
      module, "bulk(name: str, seed: int = 0, dimensions: int = 1) -> Bulk",
      "A generator of cuRAND on the current device: 'xorwow', 'mrg32k3a', 'philox', 'sobol32', "
      "'scrambled_sobol32', 'sobol64' or 'scrambled_sobol64'. For the Sobol generators, "
      "`dimensions` is the number of dimensions and `seed` the number of points to skip. Raises "
      "ValueError for another name or number of dimensions, DeviceError without cuRAND.",
      [](const Arguments& a) -> nb::object {
        const std::int64_t dimensions = a.integer(2);
        if (dimensions > INT32_MAX) raise(PyExc_ValueError, "bulk: too many dimensions");
        return nb::cast(random::bulk(a.text(0), static_cast<std::uint64_t>(a.integer(1)),
                                     static_cast<int>(dimensions), a.where()));
      });
}

}  // namespace

void bind_random(Functions& functions) {
  nb::module_ module = functions.module().def_submodule(
      "random", "Random numbers that are computed inside the kernels that use them.");
  nb::class_<Generator> generator(
      module, "Generator",
      "A random generator like numpy.random.Generator, based on Philox4x32-10. Element i of call n "
      "depends only on the seed, n and i, equally on every device. The numbers differ from "
      "NumPy's.");
  generator.def(nb::init<>());
  generator.def(nb::init<std::uint64_t>(), nb::arg("seed"));
  generator.def("_state", [](const Generator& self) { return self.state(); });
  generator.def("_restore",
                [](Generator& self, const Generator::State& state) { self.restore(state); });
  def_normals(functions, generator);
  def_locations(functions, generator);
  def_shapes(functions, generator);
  def_gammas(functions, generator);
  bind_multivariate_normal(functions, generator);
  def_counts(functions, generator);
  def_orders(functions, generator);
  def_integers(functions, generator);
  def_bulk(functions, module);
  module.def(
      "default_rng",
      [](std::optional<std::uint64_t> seed) { return seed ? Generator(*seed) : Generator(); },
      nb::arg("seed") = nb::none(),
      "A new generator: numpy.random.default_rng. Without a seed, the operating system provides "
      "one.");
}

}  // namespace heddle::python
