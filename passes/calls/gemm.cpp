#include "passes/calls/gemm.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::passes {

namespace {

constexpr std::array<std::string_view, 3> activation_names = {"none", "relu", "gelu"};

std::string name_of_activation(Activation activation) {
  return std::string(activation_names.at(static_cast<std::size_t>(activation)));
}

Activation activation_of(const std::string& name) {
  const auto found = std::ranges::find(activation_names, name);
  if (found == activation_names.end())
    throw InternalError(fmt::format("a matrix product has the unknown activation '{}'", name));
  return static_cast<Activation>(found - activation_names.begin());
}

Precision precision_of(const std::string& name) {
  const std::optional<Precision> precision = precision_from_name(name);
  if (!precision)
    throw InternalError(fmt::format("a matrix product has the unknown precision '{}'", name));
  return *precision;
}

Dim flops_of(const GemmCall& product) {
  const std::int64_t each = is_complex(product.dtype) ? 8 : is_floating(product.dtype) ? 2 : 0;
  return product.rows * product.columns * product.depth * product.batch * Dim(each);
}

std::string extents_of(const GemmCall& product) {
  return fmt::format(
      "{}{} x {} x {}", product.batch == Dim(1) ? "" : product.batch.to_string() + " of ",
      product.rows.to_string(), product.columns.to_string(), product.depth.to_string());
}

/// Members of GemmCall of type Dim, by name.
constexpr std::pair<std::string_view, Dim GemmCall::*> sizes[] = {
    {"rows", &GemmCall::rows},
    {"columns", &GemmCall::columns},
    {"depth", &GemmCall::depth},
    {"batch", &GemmCall::batch},
    {"a_start", &GemmCall::a_start},
    {"b_start", &GemmCall::b_start},
    {"a_leading", &GemmCall::a_leading},
    {"b_leading", &GemmCall::b_leading},
    {"a_batch_stride", &GemmCall::a_batch_stride},
    {"b_batch_stride", &GemmCall::b_batch_stride},
    {"out_batch_stride", &GemmCall::out_batch_stride}};

}  // namespace

CallStep to_call(const GemmCall& product) {
  CallStep call;
  call.handler = gemm_handler;
  call.operands = {{product.a, product.operand_dtype}, {product.b, product.operand_dtype}};
  call.results = {{product.out, product.dtype}};
  if (product.residual) {
    call.aliases.push_back({0, static_cast<std::uint32_t>(call.operands.size())});
    call.operands.push_back({*product.residual, product.dtype});
  }
  if (product.bias) call.operands.push_back({*product.bias, product.dtype});
  for (const auto& [name, size] : sizes) call.values.set(name, product.*size);
  call.values.set("precision", std::string(name_of(product.precision)));
  call.values.set("a_transposed", product.a_transposed);
  call.values.set("b_transposed", product.b_transposed);
  call.values.set("a_conjugated", product.a_conjugated);
  call.values.set("b_conjugated", product.b_conjugated);
  call.values.set("alpha", product.alpha);
  call.values.set("beta", product.beta);
  call.values.set("has_residual", product.residual.has_value());
  call.values.set("has_bias", product.bias.has_value());
  call.values.set("activation", name_of_activation(product.activation));
  call.operation = "matmul";
  call.what = extents_of(product);
  call.label = fmt::format("matmul_{}", name_of(product.dtype));
  call.flops = flops_of(product);
  return call;
}

GemmCall gemm_of(const CallStep& call) {
  if (call.handler != gemm_handler)
    throw InternalError(fmt::format("a call to '{}' is not a matrix product", call.handler));
  GemmCall product;
  product.dtype = call.results.at(0).dtype;
  product.operand_dtype = call.operands.at(0).dtype;
  product.a = call.operands.at(0).buffer;
  product.b = call.operands.at(1).buffer;
  product.out = call.results.at(0).buffer;
  std::size_t next = 2;
  if (call.values.flag("has_residual")) product.residual = call.operands.at(next++).buffer;
  if (call.values.flag("has_bias")) product.bias = call.operands.at(next++).buffer;
  for (const auto& [name, size] : sizes) product.*size = call.values.size(name);
  product.precision = precision_of(call.values.text("precision"));
  product.a_transposed = call.values.flag("a_transposed");
  product.b_transposed = call.values.flag("b_transposed");
  product.a_conjugated = call.values.flag("a_conjugated");
  product.b_conjugated = call.values.flag("b_conjugated");
  product.alpha = call.values.factor("alpha");
  product.beta = call.values.factor("beta");
  product.activation = activation_of(call.values.text("activation"));
  return product;
}

}  // namespace heddle::passes
