#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/compile/options.h"

namespace heddle::runtime {

/// A program as an application asked for it.
struct RecordedProgram {
  ir::Graph graph;
  CompileOptions options;
};

/// Whether a text begins as a recording does.
bool is_recording_text(std::string_view text);
/// The programs of a recording, each once, in order. A last one that its writer did not finish is
/// left out with a warning. Throws ParseError that names `file`, which must live on, and the line.
std::vector<RecordedProgram> parse_recording(std::string_view text, const char* file);

/// A recording of one program.
std::string recording_of(const RecordedProgram& program);

/// From now on each program that this process asks for is appended to the file, for `heddle warm`;
/// many processes may share one. "" ends it. HEDDLE_RECORD does the same from the start, with a
/// warning in place of errors. Throws FileError where the file cannot be written or holds something
/// else.
void record(const std::string& path);

/// Whether programs are recorded.
bool is_recording();
/// Appends a program where it is new. When the file can no longer be written the recording ends
/// with a warning.
void add_to_recording(const ir::Graph& graph, const CompileOptions& options);

}  // namespace heddle::runtime
