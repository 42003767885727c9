#include "frontend/array/mask_places.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "heddle/error.h"

#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "runtime/base/thread_pool.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {

namespace {

/// Elements that one thread takes at a time, a multiple of 8.
constexpr std::int64_t piece = std::int64_t{1} << 18;

static_assert(std::endian::native == std::endian::little, "the first of eight bytes is the lowest");

/// The highest bit of each byte that is not 0.
std::uint64_t flags_of(std::uint64_t eight) {
  constexpr std::uint64_t highest = 0x8080808080808080;
  return (((eight & ~highest) + ~highest) | eight) & highest;
}

/// Calls function(first, flags) for every eight elements of a part; those behind its end are 0.
template <class Function>
void for_flags(const std::byte* elements, std::int64_t begin, std::int64_t end,
               const Function& function) {
  std::uint64_t eight = 0;
  for (; begin + 8 <= end; begin += 8) {
    std::memcpy(&eight, elements + begin, 8);
    function(begin, flags_of(eight));
  }
  eight = 0;
  if (begin < end) std::memcpy(&eight, elements + begin, static_cast<std::size_t>(end - begin));
  function(begin, flags_of(eight));
}

/// Adds up the flags of many eights, byte by byte. The baseline of x86-64 has no instruction that
/// counts bits.
class FlagCounter {
 public:
  void add(std::uint64_t flags) {
    bytes_ += flags >> 7U;
    if (++added_ == 255) fold();
  }
  std::int64_t total() {
    fold();
    return total_;
  }

 private:
  void fold() {
    constexpr std::uint64_t even = 0x00ff00ff00ff00ff;
    const std::uint64_t pairs = (bytes_ & even) + ((bytes_ >> 8U) & even);
    total_ += static_cast<std::int64_t>((pairs * 0x0001000100010001) >> 48U);
    bytes_ = 0;
    added_ = 0;
  }

  std::uint64_t bytes_ = 0;
  int added_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace

NodeRef places_in_host_mask(const NodeRef& mask, const Site& site) {
  const std::byte* const elements = elements_on_host(*mask);
  const std::int64_t length = ir::element_count(mask->shape).constant();
  std::vector<std::int64_t> firsts(static_cast<std::size_t>((length + piece - 1) / piece) + 1);
  runtime::parallel_for(0, length, piece, [&](std::int64_t begin, std::int64_t end) {
    FlagCounter counter;
    for_flags(elements, begin, end, [&](std::int64_t, std::uint64_t flags) { counter.add(flags); });
    firsts[static_cast<std::size_t>(begin / piece) + 1] = counter.total();
  });
  for (std::size_t i = 1; i < firsts.size(); ++i) firsts[i] += firsts[i - 1];
  const ir::Type type{DType::i64, {ir::Dim(firsts.back())}};
  const runtime::Stream stream = runtime::Stream::current(mask->value.buffer->device());
  runtime::BufferRef buffer =
      runtime::allocate(static_cast<std::size_t>(firsts.back()) * sizeof(std::int64_t), stream,
                        runtime::label_of(type), site.location);
  auto* const places = static_cast<std::int64_t*>(buffer->pointer());
  runtime::parallel_for(0, length, piece, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t* out = places + firsts[static_cast<std::size_t>(begin / piece)];
    std::int64_t* const stop = places + firsts[static_cast<std::size_t>(begin / piece) + 1];
    bool changed = false;
    for_flags(elements, begin, end, [&](std::int64_t first, std::uint64_t flags) {
      for (; flags != 0 && out != stop; flags &= flags - 1)
        *out++ = first + std::countr_zero(flags) / 8;
      changed = changed || flags != 0;
    });
    if (changed || out != stop)
      throw ValueError(at("a mask was written by another thread while it was read", site));
  });
  return array_node({type, std::move(buffer), 0});
}

}  // namespace heddle::frontend
