#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace heddle::emulator {

inline constexpr std::size_t pool_alignment = 512;
inline constexpr int poison = 0xCD;

/// Memory that lies `past` bytes behind a multiple of 512, and which of its bytes are written.
class Allocation {
 public:
  Allocation(std::size_t bytes, std::size_t past)
      : block_(static_cast<std::byte*>(std::aligned_alloc(
            pool_alignment, (past + bytes + pool_alignment) / pool_alignment * pool_alignment))),
        past_(past),
        defined_(bytes, 0) {
    if (block_ == nullptr) throw std::bad_alloc();
    std::memset(data(), poison, bytes);
  }

  std::byte* data() { return block_.get() + past_; }
  std::span<std::uint8_t> defined() { return defined_; }

 private:
  struct Free {
    void operator()(std::byte* block) const { std::free(block); }
  };
  std::unique_ptr<std::byte, Free> block_;
  std::size_t past_;
  std::vector<std::uint8_t> defined_;
};

/// Part of an allocation: all that a buffer reference stands for.
struct Memory {
  std::byte* data;
  std::span<std::uint8_t> defined;

  std::size_t bytes() const { return defined.size(); }
  void define() { std::ranges::fill(defined, std::uint8_t{1}); }
  void undefine() {
    std::ranges::fill(defined, std::uint8_t{0});
    std::memset(data, poison, bytes());
  }
};

}  // namespace heddle::emulator
