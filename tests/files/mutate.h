#pragma once

// Changes to the bytes of files, as damage and attackers make them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/runtime/helpers.h"

namespace heddle::test {

/// One of a file's many changes. Equal seeds are equal changes.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// A changed copy; `other` is what parts may be taken from.
  std::string operator()(std::string bytes, std::string_view other) {
    for (std::uint64_t changes = 1 + random_.below(4); changes > 0; --changes) change(bytes, other);
    return bytes;
  }
  Random& random() { return random_; }

 private:
  void change(std::string& bytes, std::string_view other) {
    if (bytes.empty()) bytes = "x";
    const std::size_t at = random_.below(bytes.size());
    const std::size_t count = 1 + random_.below(std::min<std::size_t>(bytes.size() - at, 64));
    switch (random_.below(8)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random_.below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, count);
        break;
      case 4:  // a part of it again
        bytes.insert(random_.below(bytes.size()), bytes.substr(at, count));
        break;
      case 5:  // a part of another file
        if (!other.empty())
          bytes.replace(at, count, other.substr(random_.below(other.size()), count));
        break;
      case 6:
        put_extreme(bytes, at);
        break;
      default:
        put_digits(bytes, at);
    }
  }

  /// An extreme in place of a binary number.
  void put_extreme(std::string& bytes, std::size_t at) {
    static constexpr std::array<std::uint64_t, 10> extremes = {
        0,     1,          0x7fff,    0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff,
        ~0ULL, ~0ULL - 55, 1ULL << 40};
    const std::uint64_t value = extremes[random_.below(extremes.size())];
    const std::size_t width = std::size_t{1} << random_.below(4);
    const std::size_t aligned = random_.below(2) == 0 ? at : at / width * width;
    bytes.resize(std::max(bytes.size(), aligned + width));
    std::memcpy(bytes.data() + aligned, &value, width);
  }

  /// An extreme in place of the next number in digits.
  void put_digits(std::string& bytes, std::size_t at) {
    static constexpr std::array<std::string_view, 9> extremes = {"0",
                                                                 "-1",
                                                                 "1",
                                                                 "64",
                                                                 "4294967296",
                                                                 "9223372036854775807",
                                                                 "18446744073709551616",
                                                                 "1e308",
                                                                 "99999999999999999999999"};
    constexpr std::string_view digits = "0123456789";
    const std::size_t begin = bytes.find_first_of(digits, at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(bytes.find_first_not_of(digits, begin), bytes.size());
    bytes.replace(begin, end - begin, extremes[random_.below(extremes.size())]);
  }

  Random random_;
};

}  // namespace heddle::test
