#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heddle/array.h"
#include "heddle/trust.h"

namespace heddle {

namespace frontend {
struct ProgramState;
}

/// Describes an argument of a saved program.
struct ProgramInput {
  /// The parameter's name in Python, e.g. "x" or "params['w']"; in C++ that of hd::spec; else "".
  std::string name;
  bool is_number = false;  ///< a scalar rather than an array
  DType dtype = DType::f64;
  std::vector<std::string> shape;  ///< extents: "64", or symbols: "n"
};

/// A program that was written by Lowered::save or JitFunction::save. It runs without tracing, and
/// without a compiler on the targets that it was saved for. Copies share it. Any number of threads
/// may run it.
class Program {
 public:
  /// Runs the program. The arguments are the arrays and floating-point numbers of the saved
  /// function, in order; the results are the arrays of its result. Arrays have the dtypes and
  /// shapes that the program was saved with; equal symbols mean equal extents. Throws ValueError
  /// for another number of arguments, or an array where a number is expected or the reverse;
  /// DTypeError; ShapeError; errors of the program's ops; TraceError inside a jitted function.
  std::vector<Array> operator()(const std::vector<Operand>& arguments) const;

  std::size_t input_count() const;
  /// The arguments that the program takes, in order.
  std::vector<ProgramInput> inputs() const;
  std::size_t output_count() const;
  /// The program's graph in text form.
  std::string ir() const;

  explicit Program(std::shared_ptr<const frontend::ProgramState> state)
      : state_(std::move(state)) {}

 private:
  std::shared_ptr<const frontend::ProgramState> state_;
};

/// Loads a saved program, e.g. "step.hdp". A program that another version of Heddle wrote is
/// recompiled at its first run.
///
/// The file holds native code, which runs with the rights of this process: load only files that you
/// would execute. Throws TrustError, which names owner and mode, if users other than this one and
/// root may have written the file or may write to its folder, unless `trust` is Trust::anyone. If
/// HEDDLE_CACHE_KEY is set, the signature decides instead: TrustError if that key has not signed
/// the file. FileError if the file cannot be read or is not a program.
Program load_program(const std::string& path, Trust trust = Trust::own);

}  // namespace heddle
