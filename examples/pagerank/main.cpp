// PageRank of a made-up web: a sparse matrix of links times the ranks, again and again. All steps
// are one loop on the device.

#include <cstdio>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

constexpr double damping = 0.85;

/// Each page has three links: to a page that many link to, to one near it, and to one anywhere.
hd::sparse::Csr links(std::int64_t size) {
  const hd::Array page = hd::arange(size);
  const hd::Array to =
      hd::concatenate({page * page % 97 % size, (page + 1) % size, page * 7919 % size});
  const hd::Array source = hd::concatenate({page, page, page});
  const hd::sparse::Coo web{hd::full({3 * size}, 1.0 / 3), to, source, {size, size}};
  hd::sparse::check(web);
  return hd::sparse::sum_duplicates(hd::sparse::to_csr(web));
}

/// The part of the time that a reader spends on each page, who follows a random link or, in 15% of
/// the cases, goes anywhere.
hd::Array ranks(const hd::sparse::Csr& web, std::int64_t steps) {
  const auto size = static_cast<double>(web.shape[0]);
  const auto step = [&](const hd::Array&, const hd::Array& rank) {
    return damping * hd::sparse::matmul(web, rank) + (1 - damping) / size;
  };
  return hd::fori_loop(0, steps, step, hd::full({web.shape[0]}, 1 / size));
}

void run(const Options& options) {
  const hd::sparse::Csr web = links(options.size);
  const hd::Array rank = ranks(web, options.steps);
  const auto size = static_cast<double>(options.size);
  std::printf("%lld pages, %lld different links\n", static_cast<long long>(options.size),
              static_cast<long long>(web.data.size()));
  std::printf("ranks: sum %.5f, highest %.5f / n at page %lld, lowest %.5f / n\n",
              rank.sum().item<double>(), rank.max().item<double>() * size,
              static_cast<long long>(rank.argmax().item<std::int64_t>()),
              rank.min().item<double>() * size);
  if (!options.out.empty()) hd::save(options.out, hd::flip(hd::sort(rank)));
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, {.size = 100000, .steps = 50}, run);
}
