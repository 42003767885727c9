#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/base/span.h"
#include "runtime/base/statistics.h"
#include "runtime/cache/image.h"
#include "runtime/compile/bad_image.h"

namespace heddle::runtime {

/// Loads the module's code: constructs a Loaded from the bytes and `more`.
template <class Loaded, class... More>
std::unique_ptr<Loaded> load_module(const ModuleImage& module, More... more) {
  const ir::Span span(ir::Phase::load,
                      [&] { return fmt::format("{}", fmt::join(module.kernels, " ")); });
  if (span.data() != nullptr) span.data()->bytes = module.bytes.size();
  const auto start = std::chrono::steady_clock::now();
  try {
    auto loaded = std::make_unique<Loaded>(module.bytes, more...);
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - start;
    statistics().modules_loaded.fetch_add(1, std::memory_order_relaxed);
    statistics().load_nanoseconds.fetch_add(static_cast<std::uint64_t>(spent.count()),
                                            std::memory_order_relaxed);
    return loaded;
  } catch (const BadImage& failure) {
    throw LoadFailure(failure.what(), module, failure.damaged);
  }
}

}  // namespace heddle::runtime
