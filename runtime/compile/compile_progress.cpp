#include "runtime/compile/compile_progress.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "ir/base/environment.h"
#include "ir/base/fork_gate.h"

namespace heddle::runtime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds silence{2};
constexpr std::chrono::milliseconds redraw_interval{100};

bool is_shown() {
  if (!ir::flag(ir::Variable::progress, true)) return false;
  if (ir::environment(ir::Variable::term) == "dumb") return false;
  return isatty(STDERR_FILENO) != 0;
}

std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

class Line {
 public:
  void add(std::size_t kernels) {
    const std::lock_guard lock(mutex_);
    forget_parent();
    if (users_++ == 0) {
      shown_ = is_shown();
      start_ = Clock::now();
    }
    total_ += kernels;
  }

  void remove() {
    const std::lock_guard lock(mutex_);
    forget_parent();
    if (users_ == 0 || --users_ != 0) return;
    if (drawn_) print("");
    total_ = done_ = 0;
    drawn_ = false;
    note_.clear();
  }

  void done(std::size_t kernels) {
    const std::lock_guard lock(mutex_);
    done_ += kernels;
  }

  void set_note(std::string note) {
    const std::lock_guard lock(mutex_);
    note_ = std::move(note);
  }

  void refresh() {
    const std::lock_guard lock(mutex_);
    forget_parent();
    const Clock::time_point now = Clock::now();
    if (!shown_ || total_ == 0 || now - start_ < silence) return;
    if (drawn_ && now - drawn_at_ < redraw_interval) return;
    drawn_ = true;
    drawn_at_ = now;
    print(fmt::format("heddle: compiling {} of {} {}{}{}", with_commas(done_), with_commas(total_),
                      total_ == 1 ? "kernel" : "kernels", note_.empty() ? "" : ", ", note_));
  }

 private:
  static void print(const std::string& text) {
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
  }

  /// Resets the counts in a forked child, which has none of the threads that compile. The mutex
  /// must be held.
  void forget_parent() {
    if (std::exchange(generation_, ir::fork_generation()) == ir::fork_generation()) return;
    users_ = total_ = done_ = 0;
    drawn_ = false;
    note_.clear();
  }

  ir::Mutex mutex_;
  std::uint64_t generation_ = ir::fork_generation();
  std::size_t users_ = 0, total_ = 0, done_ = 0;
  std::string note_;
  bool shown_ = false, drawn_ = false;
  Clock::time_point start_, drawn_at_;
};

Line& line() {
  static constinit ir::LazyStatic<Line> line;
  return line.get([] { return Line(); });
}

}  // namespace

CompileProgress::CompileProgress(std::size_t kernels) { line().add(kernels); }
CompileProgress::~CompileProgress() { line().remove(); }
void CompileProgress::done(std::size_t kernels) { line().done(kernels); }
void CompileProgress::set_note(std::string note) { line().set_note(std::move(note)); }
void CompileProgress::refresh() { line().refresh(); }

}  // namespace heddle::runtime
