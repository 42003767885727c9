#pragma once

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/base/span.h"
#include "runtime/cache/image.h"
#include "runtime/compile/bad_image.h"

namespace heddle::runtime {

/// The module's code, loaded, as a Loaded made of the bytes and `more`.
template <class Loaded, class... More>
std::unique_ptr<Loaded> load_module(const ModuleImage& module, More... more) {
  const ir::Span span(ir::Phase::load,
                      [&] { return fmt::format("{}", fmt::join(module.kernels, " ")); });
  if (span.data() != nullptr) span.data()->bytes = module.bytes.size();
  try {
    return std::make_unique<Loaded>(module.bytes, more...);
  } catch (const BadImage& failure) {
    throw LoadFailure(failure.what(), module, failure.damaged);
  }
}

}  // namespace heddle::runtime
