#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "runtime/profile/profile.h"

namespace heddle::runtime {

namespace {

using Json = nlohmann::json;

constexpr int host_process = 1, first_gpu_process = 2;

/// The hash at the end of a kernel's name.
std::string hash_of(const std::string& kernel) {
  constexpr std::string_view prefix = "hd_";
  const std::size_t at = kernel.rfind('_');
  return kernel.starts_with(prefix) && at != std::string::npos ? kernel.substr(at + 1) : "";
}

Json arguments_of(const ProfileEvent& event) {
  Json args = Json::object();
  if (!event.source.empty()) args["source"] = event.source;
  if (event.bytes > 0) args["bytes"] = event.bytes;
  if (!event.launch) return args;
  const KernelLaunch& launch = *event.launch;
  args["program"] = launch.program;
  args["step"] = launch.step;
  if (const std::string hash = hash_of(launch.kernel); !hash.empty()) args["hash"] = hash;
  if (!launch.operands.empty()) args["operands"] = launch.operands;
  if (launch.blocks > 0) args["blocks"] = launch.blocks;
  if (launch.threads[0] > 0) args["threads"] = {launch.threads[0], launch.threads[1]};
  if (launch.cluster > 1) args["cluster"] = launch.cluster;
  if (launch.shared_bytes > 0) args["shared_bytes"] = launch.shared_bytes;
  if (!launch.lines.empty()) args["lines"] = launch.lines;
  if (launch.captured) args["captured"] = true;
  if (!launch.bytes) return args;
  args["bytes"] = *launch.bytes;
  constexpr double bytes_a_microsecond = 1e3;  // 1 GB/s = 1000 bytes per microsecond
  if (launch.microseconds && *launch.microseconds > 0) {
    args["GB/s"] = static_cast<double>(*launch.bytes) / *launch.microseconds / bytes_a_microsecond;
  }
  return args;
}

class TraceWriter {
 public:
  std::string write(const std::vector<ProfileEvent>& events) {
    for (const ProfileEvent& event : events) add(event);
    name_rows();
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n";
  }

 private:
  void add(const ProfileEvent& event) {
    threads_.insert(event.thread);
    const bool on_gpu = event.launch && event.launch->stream != 0;
    Json host = span(event, host_process, event.thread, event.start, event.microseconds);
    if (on_gpu) {
      host["name"] = "launch " + event.name;
      host["cat"] = "launch";
    }
    put(host);
    if (on_gpu && event.launch->microseconds) add_to_stream(event);
  }

  /// Events in a row of the trace must not overlap. If clock errors make an event begin before the
  /// end of the previous one, its start is moved to that end.
  void add_to_stream(const ProfileEvent& event) {
    const KernelLaunch& launch = *event.launch;
    const int process = process_of(launch.device);
    double& busy = streams_.try_emplace({process, launch.stream}, 0.0).first->second;
    const double start = std::max({launch.start, busy, event.start});
    busy = start + *launch.microseconds;
    put(span(event, process, launch.stream, start, *launch.microseconds));
    const std::uint64_t id = ++flows_;
    put({{"ph", "s"},
         {"id", id},
         {"cat", "flow"},
         {"name", "launch"},
         {"pid", host_process},
         {"tid", event.thread},
         {"ts", event.start}});
    put({{"ph", "f"},
         {"bp", "e"},
         {"id", id},
         {"cat", "flow"},
         {"name", "launch"},
         {"pid", process},
         {"tid", launch.stream},
         {"ts", start}});
  }

  static Json span(const ProfileEvent& event, int process, std::uint32_t row, double start,
                   double length) {
    return {
        {"ph", "X"},  {"cat", event.phase}, {"name", event.name}, {"pid", process},
        {"tid", row}, {"ts", start},        {"dur", length},      {"args", arguments_of(event)}};
  }

  int process_of(const std::string& device) {
    const auto next = first_gpu_process + static_cast<int>(processes_.size());
    return processes_.try_emplace(device, next).first->second;
  }

  void name_rows() {
    name("process_name", host_process, 0, "host");
    for (const std::uint32_t thread : threads_)
      name("thread_name", host_process, thread, "thread " + std::to_string(thread));
    for (const auto& [device, process] : processes_) name("process_name", process, 0, device);
    for (const auto& [row, busy] : streams_)
      name("thread_name", row.first, row.second, "stream " + std::to_string(row.second));
  }

  void name(const char* what, int process, std::uint32_t row, const std::string& text) {
    put({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", row}, {"args", {{"name", text}}}});
  }

  /// Replaces invalid UTF-8 in names, which would otherwise make the trace fail.
  void put(const Json& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string text_;
  std::set<std::uint32_t> threads_;
  std::map<std::string, int> processes_;
  std::map<std::pair<int, std::uint32_t>, double> streams_;  ///< end time of the last event of each
                                                             ///< stream
  std::uint64_t flows_ = 0;
};

}  // namespace

std::string chrome_trace_of(const std::vector<ProfileEvent>& events) {
  return TraceWriter().write(events);
}

}  // namespace heddle::runtime
