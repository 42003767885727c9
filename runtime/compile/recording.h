#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/compile/options.h"

namespace heddle::runtime {

/// A program as an application requested it.
struct RecordedProgram {
  ir::Graph graph;
  CompileOptions options;
};

/// Whether a text begins like a recording.
bool is_recording_text(std::string_view text);
/// Parses a recording into its programs, in order and without duplicates. A truncated last program
/// is left out with a warning. Throws ParseError with the line and `file`, which must outlive the
/// error.
std::vector<RecordedProgram> parse_recording(std::string_view text, const char* file);

/// The text of a recording with one program.
std::string recording_of(const RecordedProgram& program);

/// Appends every program that this process requests from now on to the file, for `heddle warm`.
/// Several processes may share one file. "" ends the recording. HEDDLE_RECORD starts a recording
/// with the process, and warns instead of throwing. Throws FileError if the file cannot be written
/// or is not a recording.
void record(const std::string& path);

/// Whether programs are recorded.
bool is_recording();
/// Appends a program unless it has been recorded. If the file can no longer be written, warns and
/// ends the recording.
void add_to_recording(const ir::Graph& graph, const CompileOptions& options);

}  // namespace heddle::runtime
