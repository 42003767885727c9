#include "passes/pipeline/step_levels.h"

#include <algorithm>
#include <unordered_map>

#include "passes/pipeline/kernel_uses.h"
#include "passes/pipeline/touched_elements.h"

namespace heddle::passes {

namespace {

/// The first levels at which later steps may read, and overwrite, what earlier steps touched.
struct FirstLevels {
  std::uint32_t read = 0, write = 0;
};

/// The elements of a buffer, in cells of one or more.
struct Cells {
  std::uint32_t last_writer = 0;  ///< the last step that writes the buffer
  bool written_in_parts = false;  ///< several steps write it
  FirstLevels all;                ///< of steps that touched all elements
  FirstLevels most;               ///< of any element
  std::int64_t cell_bytes = 1;
  std::vector<FirstLevels> cells;  ///< empty: each step counts as touching all elements
};

class Levels {
 public:
  explicit Levels(const PlannedProgram& planned) : planned_(planned), program_(planned.program) {}

  std::optional<std::vector<std::uint32_t>> find() {
    const auto count = static_cast<std::uint32_t>(program_.steps.size());
    touched_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const TouchedElements& one :
           touched_.emplace_back(touched_by(planned_, program_.steps[i])))
        note_buffer(one, i);
    }
    for (std::uint32_t i = 0; i < count && work_ < most_work; ++i) {
      const bool alone = program_.steps[i].call() != nullptr || i + 1 == count;
      const std::uint32_t level = std::max(first_, alone ? next_ : level_of(i));
      levels_.push_back(level);
      next_ = std::max(next_, level + 1);
      if (alone) first_ = next_;
      if (!alone) mark(i, level);
    }
    if (work_ >= most_work) return std::nullopt;
    return std::move(levels_);
  }

 private:
  /// Cells visited, and of all buffers.
  static constexpr std::int64_t most_work = 100'000'000, most_cells = std::int64_t{1} << 22;

  void note_buffer(const TouchedElements& touched, std::uint32_t step) {
    Cells& cells = buffers_[touched.buffer];
    if (!touched.written) return;
    cells.written_in_parts |= cells.last_writer != 0 && cells.last_writer != step + 1;
    cells.last_writer = step + 1;
  }

  std::uint32_t level_of(std::uint32_t step) {
    std::uint32_t level = first_;
    for (const TouchedElements& one : touched_[step]) {
      Cells& cells = of(one);
      const auto wait = [&](const FirstLevels& levels) {
        level = std::max(level, one.written ? levels.write : levels.read);
      };
      const std::uint32_t most = one.written ? cells.most.write : cells.most.read;
      if (most <= level) continue;
      if (one.all || cells.cells.empty()) {
        wait(cells.most);
      } else {
        wait(cells.all);
        visit(one, cells, wait);
      }
    }
    return level;
  }

  void mark(std::uint32_t step, std::uint32_t level) {
    for (const TouchedElements& one : touched_[step]) {
      Cells& cells = of(one);
      if (!one.written && cells.last_writer <= step + 1) continue;  // nobody will overwrite it
      const auto raise = [&](FirstLevels& levels) {
        levels.write = std::max(levels.write, level + 1);
        if (one.written) levels.read = std::max(levels.read, level + 1);
      };
      raise(cells.most);
      if (one.all || cells.cells.empty()) {
        raise(cells.all);
      } else {
        visit(one, cells, raise);
      }
    }
  }

  /// The cells of a buffer that several steps write parts of are made at the first such access.
  Cells& of(const TouchedElements& touched) {
    Cells& cells = buffers_.at(touched.buffer);
    if (touched.all || !cells.written_in_parts || !cells.cells.empty()) return cells;
    const std::int64_t bytes = bytes_of(touched.buffer);
    cells.cell_bytes = touched.element_bytes;
    if (bytes <= 0 || bytes / cells.cell_bytes > most_cells - cells_) return cells;
    cells.cells.assign(static_cast<std::size_t>(bytes / cells.cell_bytes) + 1, cells.all);
    cells_ += bytes / cells.cell_bytes;
    return cells;
  }

  /// 0 if it depends on symbols.
  std::int64_t bytes_of(const BufferRef& buffer) const {
    Dim bytes;
    if (buffer.kind == BufferRef::Kind::input) {
      bytes = byte_count(program_.inputs[buffer.index].type);
    } else if (buffer.kind == BufferRef::Kind::output) {
      bytes = byte_count(program_.outputs[buffer.index].type);
    } else if (buffer.kind == BufferRef::Kind::temporary) {
      bytes = program_.temporaries[buffer.index].bytes;
    }
    return bytes.is_constant() ? bytes.constant() : 0;
  }

  template <class Function>
  void visit(const TouchedElements& touched, Cells& cells, const Function& function) {
    visit(touched, cells, function, 0, touched.begin);
  }

  /// Calls the function for each cell of the iterations of the loops from `loop` on.
  template <class Function>
  void visit(const TouchedElements& touched, Cells& cells, const Function& function,
             std::size_t loop, std::int64_t byte) {
    if (work_ >= most_work) return;
    if (loop < touched.loops.size()) {
      for (std::int64_t i = 0; i < touched.loops[loop].count; ++i)
        visit(touched, cells, function, loop + 1, byte + i * touched.loops[loop].bytes);
      return;
    }
    const auto last = static_cast<std::int64_t>(cells.cells.size()) - 1;
    const auto cell = [&](std::int64_t place) {  // guarded accesses may lie outside
      return static_cast<std::size_t>(std::clamp<std::int64_t>(place / cells.cell_bytes, 0, last));
    };
    for (std::size_t i = cell(byte); i <= cell(byte + touched.element_bytes - 1); ++i) {
      function(cells.cells[i]);
      ++work_;
    }
  }

  const PlannedProgram& planned_;
  const Program& program_;
  std::vector<std::vector<TouchedElements>> touched_;  ///< by step
  std::unordered_map<BufferRef, Cells, BufferRefHasher> buffers_;
  std::int64_t cells_ = 0, work_ = 0;
  std::uint32_t first_ = 0, next_ = 0;  ///< the lowest level allowed, and the lowest unused one
  std::vector<std::uint32_t> levels_;
};

}  // namespace

std::optional<std::vector<std::uint32_t>> step_levels(const PlannedProgram& planned) {
  return Levels(planned).find();
}

}  // namespace heddle::passes
