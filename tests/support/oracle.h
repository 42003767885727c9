#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"

namespace heddle::test {

/// What one output of a graph should be.
struct Expected {
  ir::HostArray value;            ///< correctly rounded where NumPy can say so
  std::vector<double> tolerance;  ///< absolute, one an element; infinite where nothing is said
  std::size_t ambiguous = 0;      ///< elements of infinite tolerance
};

struct OracleResult {
  std::vector<Expected> outputs;
  std::string text;        ///< what Python code left as a string
  std::string error;       ///< not empty when NumPy, or the reader of the graph, raised
  std::string error_type;  ///< Python's name of that exception: "ValueError"
};

/// The Python process of tests/oracle: one for this process, started when first asked. It runs in
/// HEDDLE_ORACLE_PYTHON, or in the Python that the build was configured with. An oracle that does
/// not start or answer throws std::runtime_error: no test passes without it.
class Oracle {
 public:
  static Oracle& instance();

  /// NumPy's values of a graph's outputs for these inputs, and how far an implementation may be
  /// from them. `contract` allows products to be contracted into additions; false is the strict
  /// mode. tests/oracle/evaluate.py says how tolerances come about.
  OracleResult ask(const ir::Graph& graph, std::span<const ir::HostArray> inputs,
                   bool contract = true);
  OracleResult ask(std::string_view graph_text, std::span<const ir::HostArray> inputs,
                   bool contract = true);

  /// Runs Python code that may use `np`, `ml_dtypes` and the named arrays, and leaves an array, a
  /// tuple of arrays or a string in `result`.
  OracleResult python(std::string_view code,
                      std::span<const std::pair<std::string, ir::HostArray>> inputs = {});

  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

 private:
  Oracle();
  ~Oracle();
  OracleResult exchange(std::string_view head, std::span<const ir::HostArray* const> buffers);
  void send(const void* data, std::size_t size);
  void receive(void* data, std::size_t size);

  int process_ = -1;
  int requests_ = -1;
  int answers_ = -1;
};

struct Comparison {
  bool equal = false;
  std::string message;        ///< what differs, the first elements of it with index and values
  std::size_t ambiguous = 0;  ///< elements that were not compared, over all outputs
  std::size_t elements = 0;
  explicit operator bool() const { return equal; }
};

struct CompareOptions {
  bool bitwise = false;          ///< no tolerance, and zeros have signs; NaNs still count as equal
  double most_ambiguous = 0.05;  ///< the largest share of elements that may go uncompared
};

/// Dtype, shape and values of each output against the oracle's. An error of the oracle is a
/// difference.
Comparison compare(std::span<const ir::HostArray> actual, const OracleResult& expected,
                   const CompareOptions& options = {});
/// The same against values that are to be equal, for tests that know them.
Comparison compare_equal(const ir::HostArray& actual, const ir::HostArray& expected);

/// An element of a host array as text: "0.1", "true".
std::string element_text(const ir::HostArray& array, std::size_t index);

}  // namespace heddle::test
