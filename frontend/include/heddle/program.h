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

/// What a saved program takes as an argument.
struct ProgramInput {
  /// The parameter's name in Python, e.g. "x" or "params['w']"; in C++ that of hd::spec; else "".
  std::string name;
  bool is_number = false;  ///< a scalar rather than an array
  DType dtype = DType::f64;
  std::vector<std::string> shape;  ///< extents: "64", or symbols: "n"
};

/// A program that Lowered::save or JitFunction::save wrote: run without tracing, and on the targets
/// that it was saved for without a compiler. Copies share it; any number of threads may run it.
class Program {
 public:
  /// The results, as many as the function had arrays among its own, for as many arguments as it had
  /// arrays and floating numbers, in their order. Arrays have the dtypes and shapes that the
  /// program was saved with; equal symbols are equal extents. Throws ValueError for another number
  /// of arguments, or an array in the place of a number or the reverse; DTypeError; ShapeError;
  /// what the program's ops throw; TraceError inside a jitted function.
  std::vector<Array> operator()(const std::vector<Operand>& arguments) const;

  std::size_t input_count() const;
  /// The arguments that it takes, in order.
  std::vector<ProgramInput> inputs() const;
  std::size_t output_count() const;
  /// The program's graph in text form.
  std::string ir() const;

  explicit Program(std::shared_ptr<const frontend::ProgramState> state)
      : state_(std::move(state)) {}

 private:
  std::shared_ptr<const frontend::ProgramState> state_;
};

/// The program of a file, e.g. "step.hdp". Another Heddle's is compiled anew when it runs first.
///
/// The file holds native code, which runs with this process's rights: load what you would run.
/// Throws TrustError, which names owner and mode, where users besides this one and root may have
/// written it or may write to its folder, unless `trust` is Trust::anyone; where HEDDLE_CACHE_KEY
/// is set, and then only, where that key has not signed it. Throws FileError where it cannot be
/// read or is none.
Program load_program(const std::string& path, Trust trust = Trust::own);

}  // namespace heddle
