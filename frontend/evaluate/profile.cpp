#include "heddle/profile.h"

#include <fstream>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/span.h"
#include "runtime/device/backend.h"
#include "runtime/profile/kernel_history.h"
#include "runtime/profile/profile.h"

namespace heddle {

Profile::Profile() : profiler_(std::make_unique<runtime::Profiler>()) {}
Profile::~Profile() = default;
Profile::Profile(Profile&&) noexcept = default;
Profile& Profile::operator=(Profile&&) noexcept = default;

void Profile::stop() { profiler_->stop(); }
std::vector<ProfileEvent> Profile::events() const { return profiler_->events(); }
std::vector<ProfileRow> Profile::rows() const { return profiler_->rows(); }

std::vector<ProfileRow> Profile::rows(const std::string& phase) const {
  std::string known;
  for (int i = 0; i < ir::phase_count; ++i) {
    const auto each = static_cast<ir::Phase>(i);
    if (name_of(each) == phase) return profiler_->rows(each);
    known += fmt::format("{}{}", i == 0 ? "" : ", ", name_of(each));
  }
  throw ValueError(fmt::format("a profile has no phase '{}'; its phases are {}", phase, known));
}

std::string Profile::table() const { return profiler_->table(); }
std::string Profile::trace() const { return profiler_->chrome_trace(); }

void Profile::save_trace(const std::string& path) const {
  const std::string text = trace();
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file.fail()) throw FileError(fmt::format("{}: the trace cannot be written", path));
}

TimeRange::TimeRange(const std::string& message) {
  runtime::start_requested_observers();
  span_ = std::make_unique<ir::Span>(ir::Phase::range, message);
}

TimeRange::~TimeRange() = default;

void set_profiling(bool on) {
  const runtime::Device device = runtime::current_device();
  const runtime::ContextScope context(device);
  runtime::backend_of(device).set_profiling(on);
}

void set_kernel_history(std::size_t count) {
  runtime::start_requested_observers();
  runtime::set_kernel_history(count);
}

std::vector<KernelLaunch> kernel_history() { return runtime::kernel_history(); }

}  // namespace heddle
