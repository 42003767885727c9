#include <algorithm>
#include <functional>
#include <unordered_map>

#include <fmt/format.h>

#include "runtime/profile/profile.h"

namespace heddle::runtime {

namespace {

constexpr std::string_view kernel_phase = "kernel";

bool is_on_gpu(const ProfileEvent& event) { return event.launch && event.launch->stream != 0; }

/// Accumulates the events of one row.
class RowMaker {
 public:
  void add(const ProfileEvent& event) {
    ++row_.count;
    if (event.launch) {
      row_.bytes +=
          static_cast<std::uint64_t>(std::max<std::int64_t>(event.launch->bytes.value_or(0), 0));
      if (!event.launch->microseconds) return;
      if (event.launch->bytes) {
        rated_bytes_ += static_cast<double>(*event.launch->bytes);
        rated_time_ += *event.launch->microseconds;
      }
      return add_time(*event.launch->microseconds);
    }
    row_.bytes += event.bytes;
    add_time(event.own_microseconds);
  }
  /// Adds host time that belongs to the row but is not one of its events.
  void add_to_total(double microseconds) { row_.total += microseconds; }

  ProfileRow finish() const {
    ProfileRow row = row_;
    row.mean = row.count > 0 ? row.total / static_cast<double>(row.count) : 0;
    constexpr double bytes_a_microsecond = 1e3;  // 1 GB/s = 1000 bytes per microsecond
    if (rated_time_ > 0)
      row.gigabytes_per_second = rated_bytes_ / rated_time_ / bytes_a_microsecond;
    return row;
  }

 private:
  void add_time(double microseconds) {
    row_.least = timed_ ? std::min(row_.least, microseconds) : microseconds;
    row_.most = std::max(row_.most, microseconds);
    row_.total += microseconds;
    timed_ = true;
  }
  ProfileRow row_;
  bool timed_ = false;
  double rated_bytes_ = 0, rated_time_ = 0;
};

void set_shares(std::vector<ProfileRow>& rows) {
  double sum = 0;
  for (const ProfileRow& row : rows) sum += row.total;
  for (ProfileRow& row : rows) row.share = sum > 0 ? row.total / sum : 0;
}

std::string megabytes(std::uint64_t bytes) {
  constexpr double a_megabyte = 1e6;
  return bytes == 0 ? "" : fmt::format("{:.3f}", static_cast<double>(bytes) / a_megabyte);
}

/// Shortens a name in the middle: the end of a kernel's name is its hash.
std::string fitted(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name;
  const std::size_t front = width / 2 - 1, back = width - front - 2;
  return name.substr(0, front) + ".." + name.substr(name.size() - back);
}

constexpr std::size_t name_width = 56;

std::string heading(std::string_view title, bool rates) {
  return fmt::format("{:<{}} {:>7} {:>12} {:>10} {:>10} {:>10} {:>6} {:>11}{}\n", title, name_width,
                     "count", "total us", "mean us", "least us", "most us", "share", "MB",
                     rates ? "     GB/s" : "");
}

std::string line(const ProfileRow& row, const std::string& name) {
  constexpr double percent = 100;
  std::string text =
      fmt::format("{:<{}} {:>7} {:>12.1f} {:>10.1f} {:>10.1f} {:>10.1f} {:>5.1f}% {:>11}",
                  fitted(name, name_width), name_width, row.count, row.total, row.mean, row.least,
                  row.most, percent * row.share, megabytes(row.bytes));
  if (row.gigabytes_per_second > 0) text += fmt::format(" {:>8.1f}", row.gigabytes_per_second);
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

}  // namespace

std::vector<ProfileRow> rows_by_phase(const std::vector<ProfileEvent>& events) {
  std::vector<ProfileRow> rows;
  for (int i = 0; i < ir::phase_count; ++i) {
    const std::string_view phase = name_of(static_cast<ir::Phase>(i));
    RowMaker maker;
    for (const ProfileEvent& event : events) {
      if (event.phase == phase) maker.add(event);
      // The host time of a GPU kernel's span is launch time.
      if (phase == name_of(ir::Phase::launch) && is_on_gpu(event))
        maker.add_to_total(event.own_microseconds);
    }
    ProfileRow row = maker.finish();
    row.phase = phase;
    if (row.count > 0) rows.push_back(std::move(row));
  }
  set_shares(rows);
  return rows;
}

std::vector<ProfileRow> rows_by_name(const std::vector<ProfileEvent>& events,
                                     std::string_view phase) {
  std::unordered_map<std::string, RowMaker> makers;
  for (const ProfileEvent& event : events) {
    if (event.phase != phase) continue;
    const bool told = !event.source.empty();
    makers[told ? event.name + " (" + event.source + ")" : event.name].add(event);
  }
  std::vector<ProfileRow> rows;
  for (const auto& [name, maker] : makers) {
    rows.push_back(maker.finish());
    rows.back().phase = phase;
    rows.back().name = name;
  }
  std::ranges::sort(rows, [](const ProfileRow& a, const ProfileRow& b) {
    return a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  set_shares(rows);
  return rows;
}

std::string table_of(const std::vector<ProfileEvent>& events, double wall) {
  constexpr double microseconds = 1000;
  std::string text = fmt::format("{} events in {:.3f} ms\n\n", events.size(), wall / microseconds);
  text += heading("phase", false);
  for (const ProfileRow& row : rows_by_phase(events)) text += line(row, row.phase);
  for (const ir::Phase phase : {ir::Phase::pass, ir::Phase::compile, ir::Phase::launch}) {
    const std::vector<ProfileRow> rows = rows_by_name(events, name_of(phase));
    if (rows.empty()) continue;
    text += "\n" + heading(name_of(phase), false);
    for (const ProfileRow& row : rows) text += line(row, row.name);
  }
  const std::vector<ProfileRow> kernels = rows_by_name(events, kernel_phase);
  if (!kernels.empty()) text += "\n" + heading("kernel, on its device", true);
  for (const ProfileRow& row : kernels) text += line(row, row.name);
  const auto captured = std::ranges::count_if(
      events, [](const ProfileEvent& event) { return event.launch && event.launch->captured; });
  if (captured > 0) {
    text += fmt::format(
        "\n{} launches were captured into CUDA graphs, and have no times of their own\n", captured);
  }
  return text;
}

}  // namespace heddle::runtime
