#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/types/capabilities.h"
#include "passes/calls/fft.h"
#include "passes/calls/fft_roots.h"

namespace heddle::passes {

namespace {

/// A transform of one item: which form of the routine is used, and its numbers' type.
struct Form {
  DType real;
  bool blocks;    ///< of threads; else on the host
  int lanes = 1;  ///< on the host, of a vector

  Form(DType dtype, const ir::Target& target)
      : real(real_dtype(dtype)),
        blocks(ir::capabilities_of(target).blocks),
        lanes(blocks ? 1 : target.vector_bytes / static_cast<int>(size_of(real_dtype(dtype)))) {}

  const char* type() const { return real == DType::f32 ? "float" : "double"; }
  const char* section() const { return blocks ? "fft_items" : "fft_items_host"; }
  ItemTable table(Numbers numbers) const {
    return {real, std::make_shared<const Numbers>(std::move(numbers))};
  }
};

/// The roots that the results of each stage but the last are multiplied by, in the order that
/// codegen/device/fft_items.h and fft_items_host.h say. On a GPU, those of which the others are
/// products.
/// `interleaved`: of several transforms on the host, whose numbers are interleaved.
Numbers roots(const Form& form, std::int64_t n, const std::vector<int>& radices, bool inverse,
              bool interleaved = false) {
  Numbers numbers;
  std::int64_t span = 1;
  for (std::size_t i = 0; i + 1 < radices.size(); ++i) {
    const std::int64_t radix = radices[i], count = n / radix;
    const bool in_runs =  // as in fft_items_host.h
        span >= form.lanes || (2 * span >= form.lanes && count >= form.lanes);
    const bool shared = form.blocks || interleaved || in_runs;
    const std::int64_t held = shared ? count / span : count;
    std::vector<Complex> stage;
    for (std::int64_t k = 1; k < radix; k = form.blocks ? 2 * k : k + 1) {
      for (std::int64_t b = 0; b < held; ++b)
        stage.push_back(root_of_unity((shared ? b : b / span) * k * span, n, inverse));
    }
    append(numbers, stage, form.blocks);
    span *= radix;
  }
  if (numbers.empty()) append(numbers, 1);  // a table has an element
  return numbers;
}

int threads_for(std::int64_t n, const ir::Target& target) {
  constexpr std::int64_t long_item = 512;
  const std::int64_t elements = n < long_item ? 8 : 16;  // of one thread
  return static_cast<int>(
      std::clamp<std::int64_t>((n + elements - 1) / elements, 1, target.max_threads_per_block));
}

/// Of the arguments of a routine: threads on a GPU, lanes on the host.
int width_of(const Form& form, std::int64_t n, const ir::Target& target) {
  return form.blocks ? threads_for(n, target) : form.lanes;
}

std::string list_of(const std::vector<int>& radices) {
  std::string list;
  for (const int radix : radices) list += fmt::format(", {}", radix);
  return list;
}

/// The memory of an item of `numbers` complex numbers. On a GPU, a number follows every line of 128
/// bytes, and neighbouring items begin one number further in a line. On the CPU, items have an odd
/// number of lines, so that neighbouring ones are in different sets of a cache.
std::int64_t item_bytes(std::int64_t numbers, DType real, bool blocks) {
  constexpr std::int64_t line = 128;
  const auto size = 2 * static_cast<std::int64_t>(size_of(real));
  const std::int64_t lines = (numbers * size + line - 1) / line;
  if (!blocks) return (lines | 1) * line;
  return ((lines * (line + size) + line - 1) / line) * line + size;
}

/// Memory of an item on the host. A short one is on the stack with two copies, of which it takes at
/// most a third. A long one, with two more copies of parts, should stay in a core's second cache.
constexpr std::int64_t host_short_bytes = (64 << 10) + 128;
constexpr std::int64_t host_long_bytes = (1 << 20) + 128;

/// Two factors of a length, the first at most its root and as large as possible.
std::pair<std::int64_t, std::int64_t> factors_near_root(std::int64_t n) {
  auto low = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % low != 0) --low;
  return {low, n / low};
}

/// The low bits of an exponent of a root of this order, which is looked up in two tables.
int low_bits(std::int64_t order) {
  return (std::bit_width(static_cast<std::uint64_t>(order)) + 1) / 2;
}

/// The transform that the routine of an item uses, and its tables.
struct Routine {
  std::string type;  ///< on the host
  Numbers tables;

  Routine(const Form& form, std::int64_t n, bool inverse, const ir::Target& target) {
    if (!form.blocks && item_bytes(n, form.real, false) > host_short_bytes) {
      split(form, n, inverse, target);
      return;
    }
    const std::vector<int> radices = *fft_radices(n, target);
    tables = roots(form, n, radices, inverse);
    type = fmt::format("FftShort<{}, {}, {}, {}{}>", form.type(), n, form.lanes, inverse,
                       list_of(radices));
  }

 private:
  /// FftLong of codegen/device/fft_items_host.h.
  void split(const Form& form, std::int64_t n, bool inverse, const ir::Target& target) {
    const auto [rows, columns] = factors_near_root(n);
    const std::vector<int> row_radices = *fft_radices(rows, target);
    const std::vector<int> column_radices = *fft_radices(columns, target);
    const int bits = low_bits(n);
    const std::int64_t step = std::int64_t{1} << bits;
    type = fmt::format("FftLong<{}, {}, {}, {}, {}, {}, FftRadices<{}>, FftRadices<{}>>",
                       form.type(), rows, columns, form.lanes, inverse, bits,
                       fmt::join(row_radices, ", "), fmt::join(column_radices, ", "));
    if (row_radices.size() > 1) append(tables, roots(form, rows, row_radices, inverse, true));
    if (column_radices.size() > 1)
      append(tables, roots(form, columns, column_radices, inverse, true));
    std::vector<Complex> turns;
    for (std::int64_t k = 0; k < rows; ++k) {
      for (int w = 0; w < form.lanes; ++w) turns.push_back(root_of_unity(k * w, n, inverse));
    }
    append(tables, turns, false);
    append(tables, powers(n, step, 1, inverse));
    append(tables, powers(n, (n + step - 1) / step, step, inverse));
  }
};

ItemCall item_of(const Form& form, std::int64_t n, std::int64_t numbers, const ir::Target& target) {
  ItemCall item;
  item.routine.section = form.section();
  item.threads = form.blocks ? threads_for(n, target) : 1;
  item.resident = form.real == DType::f32 ? 1024 : 512;  // a thread holds 16 complex numbers
  item.offsets = {0, 0};
  item.padding = form.blocks ? 2 * static_cast<int>(size_of(form.real)) : 0;
  item.bytes = item_bytes(numbers, form.real, form.blocks);
  return item;
}

/// The length of the convolution that transforms n numbers as one item.
std::int64_t item_convolution_length(std::int64_t n, DType dtype, const ir::Target& target) {
  const std::int64_t cheapest = convolution_length(n, target);
  return fits_item(cheapest, dtype, target) ? cheapest : least_smooth(2 * n - 1);
}

ItemCall chirp_item(const Form& form, std::int64_t n, bool inverse, const ir::Target& target) {
  const std::int64_t m = item_convolution_length(n, form.real, target);
  const std::vector<int> radices = *fft_radices(m, target);
  ItemCall item = item_of(form, m, m, target);
  const Routine forward(form, m, false, target), backward(form, m, true, target);
  item.routine.function = form.blocks ? fmt::format("chirp_item<{}, {}, {}, {}{}>", form.type(), n,
                                                    m, threads_for(m, target), list_of(radices))
                                      : fmt::format("chirp_item<{}, {}, {}, {}, {}>", form.type(),
                                                    n, m, forward.type, backward.type);
  std::vector<Complex> turns, filter(static_cast<std::size_t>(m));
  for (std::int64_t k = 0; k < n; ++k) {
    const Complex one = root_of_unity(k * k % (2 * n), 2 * n, inverse);
    turns.push_back(one);
    filter[static_cast<std::size_t>(k)] = std::conj(one);
    filter[static_cast<std::size_t>((m - k) % m)] = std::conj(one);
  }
  filter = transformed(std::move(filter));
  for (Complex& one : filter) one /= static_cast<long double>(m);
  Numbers chirp, transform;
  append(chirp, turns, form.blocks);
  append(transform, filter, form.blocks);
  item.routine.tables = {form.table(forward.tables), form.table(backward.tables),
                         form.table(std::move(chirp)), form.table(std::move(transform))};
  return item;
}

std::int64_t last_extent(const ir::Shape& shape) { return shape.back().constant(); }

}  // namespace

bool fits_item(std::int64_t numbers, DType dtype, const ir::Target& target) {
  const bool blocks = ir::capabilities_of(target).blocks;
  return item_bytes(numbers, real_dtype(dtype), blocks) <=
         (blocks ? most_item_bytes(target) : host_long_bytes);
}

bool fits_stages(std::int64_t numbers, DType dtype, const ir::Target& target) {
  const bool blocks = ir::capabilities_of(target).blocks;
  return blocks ? fits_item(numbers, dtype, target)
                : item_bytes(numbers, real_dtype(dtype), false) <= host_short_bytes;
}

bool is_item_length(std::int64_t length, DType dtype, const ir::Target& target) {
  return fits_item(length, dtype, target) &&
         (fft_radices(length, target) || fits_item(least_smooth(2 * length - 1), dtype, target));
}

bool is_half_length(std::int64_t length, DType dtype, const ir::Target& target) {
  return ir::capabilities_of(target).blocks && length % 2 == 0 &&
         !is_item_length(length, dtype, target) && fft_radices(length / 2, target) &&
         fits_item(length / 2, dtype, target);
}

bool is_real_item_length(std::int64_t length, DType dtype, const ir::Target& target) {
  return length % 2 == 0 && fft_radices(length / 2, target) &&
         fits_item(length / 2 + 1, dtype, target);
}

// Each butterfly of the last stage has its mirror among the others, so they are even in number.
bool is_real_half_length(std::int64_t length, DType dtype, const ir::Target& target) {
  if (!ir::capabilities_of(target).blocks || length % 4 != 0 ||
      is_real_item_length(length, dtype, target))
    return false;
  const std::int64_t n = length / 4;
  const std::optional<std::vector<int>> radices = rfft_radices(n, target);
  return radices && n / radices->back() % 2 == 0 && fits_item(n, dtype, target);
}

namespace {

/// Half of the result for each of two blocks.
ItemCall fft_half_item(const Form& form, std::int64_t n, bool inverse, const ir::Target& target) {
  const std::vector<int> radices = *fft_radices(n, target);
  ItemCall item = item_of(form, n, n, target);
  item.routine.takes = {PassedElements{2 * n}};
  item.routine.makes = {2 * n};
  item.routine.parts = 2;
  item.routine.tables = {form.table(roots(form, n, radices, inverse)),
                         form.table(half_roots(n, radices.front(), inverse))};
  item.routine.function = fmt::format("fft_half_item<{}, {}, {}, {}{}>", form.type(), n,
                                      item.threads, inverse, list_of(radices));
  return item;
}

}  // namespace

std::optional<ItemCall> fft_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Shape& shape = graph.shape(call);
  const ir::CallData& data = *graph.attributes(call).call;
  const std::int64_t n = last_extent(shape);
  const bool inverse = data.get<bool>("inverse");
  const auto root = data.get<std::int64_t>("root");
  const Form form(graph.dtype(call), target);
  const std::optional<std::vector<int>> radices = fft_radices(n, target);
  if (is_half_length(n, graph.dtype(call), target))
    return fft_half_item(form, n / 2, inverse, target);
  if (!radices) return chirp_item(form, n, inverse, target);
  ItemCall item = item_of(form, n, n, target);
  if (form.blocks) {
    item.routine.takes = {PassedElements{n}};
    item.routine.makes = {n};
  }
  item.routine.deals_anew = form.blocks && radices->size() > 1;
  std::string bits;
  if (root == 0) {
    const Routine routine(form, n, inverse, target);
    item.routine.tables = {form.table(routine.tables)};
    item.routine.function = form.blocks
                                ? fmt::format("fft_item<{}, {}, {}, {}{}>", form.type(), n,
                                              threads_for(n, target), inverse, list_of(*radices))
                                : fmt::format("fft_item<{}, {}>", form.type(), routine.type);
    return item;
  }
  item.routine.tables = {form.table(roots(form, n, *radices, inverse))};
  {
    const int low = low_bits(root);
    const std::int64_t step = std::int64_t{1} << low;
    bits = fmt::format(", {}", low);
    item.routine.item_modulus = shape[shape.size() - 2].constant();
    item.routine.tables.push_back(form.table(powers(root, step, 1, inverse)));
    item.routine.tables.push_back(
        form.table(powers(root, (root + step - 1) / step, step, inverse)));
  }
  item.routine.function = fmt::format("fft_turned_item<{}, {}, {}, {}{}{}>", form.type(), n,
                                      width_of(form, n, target), inverse, bits, list_of(*radices));
  return item;
}

namespace {

/// The transform of real numbers on a GPU: by one block, or half of the result by each of two.
ItemCall rfft_block_item(std::int64_t length, DType dtype, const ir::Target& target) {
  const Form form(dtype, target);
  const int parts = is_real_item_length(length, dtype, target) ? 1 : 2;
  const std::int64_t n = length / (2 * parts);
  const std::vector<int> radices = parts > 1 ? *rfft_radices(n, target) : *fft_radices(n, target);
  ItemCall item = item_of(form, n, parts == 1 ? n + 1 : n, target);
  item.routine.section = "fft_real_items";
  item.routine.takes = {PassedElements{length, 2}};
  item.routine.makes = {length / 2 + 1};
  item.routine.parts = parts;
  item.routine.tables.push_back(form.table(roots(form, n, radices, false)));
  if (parts > 1) item.routine.tables.push_back(form.table(half_roots(n, radices.front(), false)));
  // Pairs of butterflies should occupy all threads, whose neighbours then store whole lines.
  const bool paired =
      parts > 1 || (!radices.empty() && 2 * std::int64_t{radices.back()} * item.threads <= n);
  item.routine.tables.push_back(form.table(paired ? mirror_roots(n, radices.back(), parts)
                                                  : powers(length, n / 2 + 1, 1, false)));
  const std::string name = parts > 1 ? "rfft_half_item" : "rfft_item";
  const std::string form_of = parts > 1 ? "" : paired ? ", true" : ", false";
  item.routine.function = fmt::format("{}<{}, {}, {}{}{}>", name, form.type(), n, item.threads,
                                      form_of, list_of(radices));
  return item;
}

/// `length` real numbers are half as many complex ones. On the host, both directions.
ItemCall real_item(const char* function, std::int64_t length, bool inverse, const Form& form,
                   const ir::Target& target) {
  const std::int64_t n = length / 2;
  const std::vector<int> radices = *fft_radices(n, target);
  ItemCall item = item_of(form, n, n + 1, target);
  const Routine routine(form, n, inverse, target);
  if (form.blocks) {
    item.routine.section = "fft_real_items";
    item.routine.takes = {PassedElements{n + 1}};
    item.routine.makes = {length, 2};
  }
  item.routine.function = form.blocks ? fmt::format("{}<{}, {}, {}{}>", function, form.type(), n,
                                                    threads_for(n, target), list_of(radices))
                                      : fmt::format("{}<{}, {}, {}, {}>", function, form.type(), n,
                                                    form.lanes, routine.type);
  std::vector<Complex> roots;
  for (std::int64_t k = 0; k <= n / 2; ++k) roots.push_back(root_of_unity(k, length, false));
  Numbers turns;
  append(turns, roots, form.blocks);
  item.routine.tables = {form.table(routine.tables), form.table(std::move(turns))};
  return item;
}

}  // namespace

std::optional<ItemCall> rfft_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const std::int64_t length = last_extent(graph.shape(graph.operands(call)[0]));
  const Form form(graph.dtype(call), target);
  if (form.blocks) return rfft_block_item(length, graph.dtype(call), target);
  return real_item("rfft_item", length, false, form, target);
}

std::optional<ItemCall> irfft_item(const Graph& graph, ValueId call, const ir::Target& target) {
  return real_item("irfft_item", last_extent(graph.shape(call)), true,
                   Form(graph.dtype(call), target), target);
}

Dim fft_flops(const Graph& graph, ValueId call) {
  const ir::Shape& shape = graph.shape(call);
  const bool real = !graph.is_call_of(call, ir::calls::fft());
  const std::int64_t n = graph.is_call_of(call, ir::calls::rfft())
                             ? last_extent(graph.shape(graph.operands(call)[0]))
                             : last_extent(shape);
  const Dim batch = ir::element_count({shape.begin(), shape.end() - 1});
  const auto size = static_cast<double>(n);
  const double each = (real ? 2.5 : 5.0) * size * std::log2(size);
  return batch * Dim(static_cast<std::int64_t>(each));
}

}  // namespace heddle::passes
