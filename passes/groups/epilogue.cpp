#include "passes/groups/epilogue.h"

namespace heddle::passes {

std::string Epilogue::description() const {
  std::string text = "matmul";
  const auto is_one = [](const Factor& factor) { return !factor.scalar && factor.constant == 1; };
  if (!is_one(alpha)) text += " + scale";
  if (residual) text += is_one(beta) ? " + residual" : " + scaled residual";
  if (bias) text += " + bias";
  if (activation == Activation::relu) text += " + relu";
  if (activation == Activation::gelu) text += " + gelu";
  return text;
}

}  // namespace heddle::passes
