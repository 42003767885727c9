#include "frontend/array/mask_places.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/error.h"

#include "frontend/array/strided_elements.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "runtime/base/thread_pool.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {

namespace {

/// Elements that one thread takes at a time, a multiple of 8.
constexpr std::int64_t piece = std::int64_t{1} << 18;

static_assert(std::endian::native == std::endian::little, "the first of eight bytes is the lowest");

constexpr std::uint64_t highest = 0x8080808080808080;  ///< bit of each of eight bytes

/// The highest bit of each byte that is not 0.
std::uint64_t flags_of(std::uint64_t eight) {
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

/// The true elements of a mask in host memory, counted piece by piece.
class TrueElements {
 public:
  TrueElements(const NodeRef& mask, const Site& site)
      : elements_(elements_on_host(*mask)),
        length_(ir::element_count(mask->shape).constant()),
        firsts_(static_cast<std::size_t>((length_ + piece - 1) / piece) + 1),
        site_(site) {
    runtime::parallel_for(0, length_, piece, [&](std::int64_t begin, std::int64_t end) {
      FlagCounter counter;
      for_flags(elements_, begin, end,
                [&](std::int64_t, std::uint64_t flags) { counter.add(flags); });
      firsts_[static_cast<std::size_t>(begin / piece) + 1] = counter.total();
    });
    for (std::size_t i = 1; i < firsts_.size(); ++i) firsts_[i] += firsts_[i - 1];
  }

  std::int64_t count() const { return firsts_.back(); }

  /// Calls visit(k, place) for each: `place` is that of the k-th. Throws ValueError if another
  /// thread has written the mask since they were counted.
  template <class Visit>
  void visit(const Visit& visit) const {
    runtime::parallel_for(0, length_, piece, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t k = firsts_[static_cast<std::size_t>(begin / piece)];
      const std::int64_t stop = firsts_[static_cast<std::size_t>(begin / piece) + 1];
      bool changed = false;
      for_flags(elements_, begin, end, [&](std::int64_t first, std::uint64_t flags) {
        if (flags == highest && stop - k >= 8) {
          for (int j = 0; j < 8; ++j) visit(k + j, first + j);
          k += 8;
          return;
        }
        for (; flags != 0 && k != stop; flags &= flags - 1)
          visit(k++, first + std::countr_zero(flags) / 8);
        changed = changed || flags != 0;
      });
      if (changed || k != stop)
        throw ValueError(at("a mask was written by another thread while it was read", site_));
    });
  }

 private:
  const std::byte* elements_;
  std::int64_t length_;
  std::vector<std::int64_t> firsts_;  ///< the number of true elements before each piece
  const Site& site_;
};

/// What a mask's element selects from an array: its extents, and its bytes.
ir::Shape selected_by(const NodeRef& mask, const NodeRef& array) {
  return {array->shape.begin() + static_cast<std::ptrdiff_t>(mask->shape.size()),
          array->shape.end()};
}
std::size_t bytes_of(const ir::Shape& selected, DType dtype) {
  return static_cast<std::size_t>(ir::element_count(selected).constant()) * size_of(dtype);
}

/// Calls run(T()) with a type of `bytes` bytes; run(nullptr) if there is none.
template <class Run>
void with_type_of_size(std::size_t bytes, const Run& run) {
  struct Sixteen {
    std::uint64_t parts[2];
  };
  switch (bytes) {
    case 1:
      return run(std::uint8_t());
    case 2:
      return run(std::uint16_t());
    case 4:
      return run(std::uint32_t());
    case 8:
      return run(std::uint64_t());
    case 16:
      return run(Sixteen());
    default:
      return run(nullptr);
  }
}

/// Calls copy(k, place, bytes) as TrueElements::visit does, where the number of bytes is a constant
/// for the compiler if elements have a usual size.
template <class Copy>
void copy_selected(const TrueElements& selected, std::size_t bytes, const Copy& copy) {
  with_type_of_size(bytes, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_null_pointer_v<T>) {
      selected.visit([&](std::int64_t k, std::int64_t place) { copy(k, place, bytes); });
    } else {
      selected.visit([&](std::int64_t k, std::int64_t place) { copy(k, place, sizeof(T)); });
    }
  });
}

std::byte* element_at(std::byte* elements, std::int64_t number, std::size_t bytes) {
  return elements + static_cast<std::size_t>(number) * bytes;
}
const std::byte* element_at(const std::byte* elements, std::int64_t number, std::size_t bytes) {
  return elements + static_cast<std::size_t>(number) * bytes;
}

runtime::BufferRef new_buffer(const ir::Type& type, const NodeRef& beside, const Site& site) {
  const runtime::Stream stream = runtime::Stream::current(beside->value.buffer->device());
  return runtime::allocate(static_cast<std::size_t>(ir::byte_count(type).constant()), stream,
                           runtime::label_of(type), site.location);
}

}  // namespace

NodeRef places_in_host_mask(const NodeRef& mask, const Site& site) {
  const TrueElements selected(mask, site);
  const ir::Type type{DType::i64, {ir::Dim(selected.count())}};
  runtime::BufferRef buffer = new_buffer(type, mask, site);
  auto* const places = static_cast<std::int64_t*>(buffer->pointer());
  selected.visit([&](std::int64_t k, std::int64_t place) { places[k] = place; });
  return array_node({type, std::move(buffer), 0});
}

NodeRef elements_in_host_mask(const NodeRef& array, const NodeRef& mask, const Site& site) {
  const TrueElements selected(mask, site);
  ir::Type type{array->dtype, selected_by(mask, array)};
  const std::size_t bytes = bytes_of(type.shape, array->dtype);
  type.shape.insert(type.shape.begin(), ir::Dim(selected.count()));
  runtime::BufferRef buffer = new_buffer(type, array, site);
  const std::byte* const from = elements_on_host(*array);
  auto* const to = static_cast<std::byte*>(buffer->pointer());
  copy_selected(selected, bytes, [&](std::int64_t k, std::int64_t place, std::size_t size) {
    std::memcpy(element_at(to, k, size), element_at(from, place, size), size);
  });
  return array_node({std::move(type), std::move(buffer), 0});
}

bool write_in_host_mask(const NodeRef& array, const NodeRef& mask, const NodeRef& values,
                        const Site& site) {
  const TrueElements selected(mask, site);
  ir::Shape shape = selected_by(mask, array);
  const std::size_t bytes = bytes_of(shape, array->dtype);
  shape.insert(shape.begin(), ir::Dim(selected.count()));
  if (values->shape != shape || values->dtype != array->dtype) return false;
  const std::byte* const from = elements_on_host(*values);
  std::byte* const to = address_of(array->value);
  copy_selected(selected, bytes, [&](std::int64_t k, std::int64_t place, std::size_t size) {
    std::memcpy(element_at(to, place, size), element_at(from, k, size), size);
  });
  return true;
}

}  // namespace heddle::frontend
