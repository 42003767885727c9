#include "runtime/cuda/kernel_parameters.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::runtime::cuda {

std::optional<std::vector<std::size_t>> parameter_sizes(FunctionHandle function) {
  if (!driver().func_get_param_info) return std::nullopt;
  std::vector<std::size_t> sizes;
  while (true) {
    std::size_t offset = 0, bytes = 0;
    const Result result =
        driver().func_get_param_info.attempt(function, sizes.size(), &offset, &bytes);
    if (result == Result::invalid_value) return sizes;  // there are no more
    if (result != Result::success) return std::nullopt;
    sizes.push_back(bytes);
  }
}

namespace {

/// Whether an integer, the lowest byte first, keeps its value in fewer bytes: what is dropped is
/// zero, or extends the sign.
bool fits(std::string_view integer, std::size_t bytes) {
  const std::string_view dropped = integer.substr(bytes);
  const bool negative = (static_cast<unsigned char>(integer[bytes - 1]) & 0x80U) != 0;
  const auto all = [&](char byte) {
    return std::ranges::all_of(dropped, [&](char one) { return one == byte; });
  };
  return all('\0') || (negative && all('\xff'));
}

}  // namespace

void check_values(const std::string& kernel, std::span<const std::size_t> sizes,
                  const LaunchValues& values) {
  if (sizes.size() != values.size()) {
    throw ValueError(fmt::format("{}: the kernel has {} parameter{}, but {} argument{} given",
                                 kernel, sizes.size(), sizes.size() == 1 ? "" : "s", values.size(),
                                 values.size() == 1 ? " is" : "s are"));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [bytes, integer] = values[i];
    if (bytes.size() == sizes[i]) continue;
    if (!integer || sizes[i] == 0 || bytes.size() < sizes[i]) {
      throw ValueError(
          fmt::format("{}: argument {} has {} bytes, but the kernel's parameter has {}", kernel,
                      i + 1, bytes.size(), sizes[i]));
    }
    if (!fits(bytes, sizes[i])) {
      throw ValueError(fmt::format(
          "{}: argument {} is an integer that does not fit the kernel's parameter of {} "
          "bytes",
          kernel, i + 1, sizes[i]));
    }
  }
}

}  // namespace heddle::runtime::cuda
