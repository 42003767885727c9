// The Poisson equation on a square: a sparse matrix of differences, solved by conjugate gradients,
// which are one loop on the device.

#include <cstdio>
#include <tuple>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

/// Minus the second differences of a line, 0 around it.
hd::sparse::Coo differences(std::int64_t size) {
  const hd::Array i = hd::arange(size), first = i(hd::slice(-1)), second = first + 1;
  const hd::Array minus = hd::full({size - 1}, -1.0);
  return {hd::concatenate({hd::full({size}, 2.0), minus, minus}),
          hd::concatenate({i, first, second}),
          hd::concatenate({i, second, first}),
          {size, size}};
}

hd::sparse::Coo identity(std::int64_t size) {
  return {hd::ones({size}), hd::arange(size), hd::arange(size), {size, size}, true};
}

/// The same of a grid, in both directions: 5 points each.
hd::sparse::Csr laplacian(std::int64_t size) {
  using namespace hd::sparse;
  const Coo line = differences(size), one = identity(size);
  return add(to_csr(kron(one, line)), to_csr(kron(line, one)));
}

/// A positive disc and a negative one.
hd::Array charges(std::int64_t size) {
  const hd::Array place = hd::linspace(-1.0, 1.0, size);
  const hd::Array x = place(hd::newaxis, hd::_), y = place(hd::_, hd::newaxis);
  const hd::Array positive = hd::hypot(x + 0.4, y + 0.1) < 0.2;
  const hd::Array negative = hd::hypot(x - 0.3, y - 0.4) < 0.15;
  return hd::where(positive, 1.0, hd::where(negative, -1.5, 0.0)) /
         static_cast<double>(size * size);
}

/// x with a x = b, until the residual is 1e-10 of b.
hd::Array conjugate_gradients(const hd::sparse::Csr& a, const hd::Array& b) {
  using State = std::tuple<hd::Array, hd::Array, hd::Array, hd::Array>;  // x, r, p, r * r
  const hd::Array enough = hd::sum(b * b) * 1e-20;
  const auto step = [&](const State& state) {
    const auto& [x, r, p, rho] = state;
    const hd::Array q = hd::sparse::matmul(a, p);
    const hd::Array alpha = rho / hd::sum(p * q);
    const hd::Array rest = r - alpha * q, next = hd::sum(rest * rest);
    return State(x + alpha * p, rest, rest + next / rho * p, next);
  };
  const auto far = [&](const State& state) { return std::get<3>(state) >= enough; };
  return std::get<0>(hd::while_loop(far, step, State(hd::zeros_like(b), b, b, hd::sum(b * b))));
}

void run(const Options& options) {
  const hd::sparse::Csr a = laplacian(options.size);
  const hd::Array u = conjugate_gradients(a, hd::ravel(charges(options.size)));
  std::printf("%lld unknowns, %lld stored elements\n", static_cast<long long>(a.shape[0]),
              static_cast<long long>(a.data.size()));
  std::printf("potential: highest %.5f, lowest %.5f, mean %.5f\n", u.max().item<double>(),
              u.min().item<double>(), u.mean().item<double>());
  if (!options.out.empty()) hd::save(options.out, u.reshape({options.size, options.size}));
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, {.size = 256}, run); }
