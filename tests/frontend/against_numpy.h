#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "frontend/array/access.h"
#include "frontend/graph/storage.h"
#include "tests/support/oracle.h"
#include "tests/support/samples.h"
#include "values.h"

namespace heddle::test {

/// A value as an array and for NumPy.
struct Both {
  ir::HostArray host;
  Array array;
  explicit Both(ir::HostArray value)
      : host(std::move(value)),
        array(frontend::Access::make(frontend::upload(host.data.data(), host.type))) {}
};

inline ir::HostArray on_host(const Array& array) {
  array.eval();
  const frontend::NodeRef node = frontend::Access::node(array, {});
  return {{node->dtype, node->shape}, frontend::download(*node)};
}

using NumpyInputs = std::vector<std::pair<std::string, ir::HostArray>>;

/// Whether -0 is to be told from +0.
enum class Zeros : std::uint8_t { signed_, alike };

/// Checks dtype, shape and elements of arrays against what NumPy code leaves in `result`, one array
/// or a tuple. Floats may be off by `relative` of NumPy's.
inline void check_like_numpy(const std::vector<Array>& ours, const std::string& code,
                             const NumpyInputs& inputs, Zeros zeros = Zeros::signed_,
                             double relative = 0) {
  CAPTURE(code);
  OracleResult expected = Oracle::instance().python(code, inputs);
  REQUIRE_MESSAGE(expected.error.empty(), expected.error);
  std::vector<ir::HostArray> actual;
  for (const Array& array : ours) actual.push_back(on_host(array));
  for (Expected& output : expected.outputs) {
    if (relative == 0 || output.value.type.dtype != DType::f64) continue;
    for (std::size_t i = 0; i < output.tolerance.size(); ++i) {
      double value = 0;
      std::memcpy(&value, &output.value.data[i * sizeof value], sizeof value);
      if (std::isfinite(value)) output.tolerance[i] = relative * std::abs(value);
    }
  }
  const Comparison result =
      compare(actual, expected, {.bitwise = relative == 0 && zeros == Zeros::signed_});
  CHECK_MESSAGE(result, result.message);
}

}  // namespace heddle::test
