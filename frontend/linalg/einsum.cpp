#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "heddle/linear_algebra.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/linalg/contraction.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::Label;
using frontend::NodeRef;
using frontend::Site;

namespace {

/// Labels of the axes of an ellipsis: below all letters, counted from the last axis.
constexpr Label last_of_ellipsis = -1;

/// The subscripts of one einsum, as labels of the operands' axes.
class Subscripts {
 public:
  Subscripts(std::string_view text, std::span<const NodeRef> operands, const Site& site)
      : text_(text), site_(site) {
    std::string spelled;
    std::copy_if(text.begin(), text.end(), std::back_inserter(spelled),
                 [](char c) { return c != ' '; });
    const std::size_t arrow = spelled.find("->");
    std::vector<std::string> terms{""};
    for (char c : spelled.substr(0, arrow)) {
      if (c == ',') {
        terms.emplace_back();
      } else {
        terms.back() += c;
      }
    }
    if (terms.size() != operands.size()) {
      fail(fmt::format("{} terms for {} operands", terms.size(), operands.size()));
    }
    for (std::size_t i = 0; i < terms.size(); ++i) {
      inputs.push_back({operands[i], labels_of(terms[i], &operands[i])});
    }
    if (arrow == std::string::npos) {
      infer_output();
    } else {
      output = labels_of(spelled.substr(arrow + 2), nullptr);
      check_output();
    }
  }

  std::vector<frontend::Labelled> inputs;
  std::vector<Label> output;

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw ValueError(at(fmt::format("einsum(\"{}\"): {}", text_, why), site_));
  }

  /// In an operand, the ellipsis stands for the axes without a letter; in the output, for all axes
  /// of the operands' ellipses.
  std::vector<Label> labels_of(const std::string& term, const NodeRef* operand) {
    std::vector<Label> labels;
    bool ellipsis = false;
    const auto letters = std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; });
    const int rank = operand != nullptr ? frontend::rank_of(*operand) : 0;
    for (std::size_t i = 0; i < term.size(); ++i) {
      const char c = term[i];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (letter) {
        labels.push_back(c);
      } else if (term.compare(i, 3, "...") == 0 && !ellipsis) {
        const int axes =
            operand != nullptr ? std::max(rank - static_cast<int>(letters), 0) : ellipsis_axes_;
        for (int k = axes; k > 0; --k) labels.push_back(last_of_ellipsis - (k - 1));
        ellipsis_axes_ = std::max(ellipsis_axes_, axes);
        ellipsis = true;
        i += 2;
      } else {
        fail(fmt::format("'{}' is not a letter or one ellipsis", c));
      }
    }
    if (operand != nullptr && static_cast<int>(labels.size()) != rank) {
      fail(fmt::format("the term '{}' does not fit {}", term, frontend::describe(**operand)));
    }
    return labels;
  }

  /// The axes of the ellipses, then the letters that occur once, sorted.
  void infer_output() {
    for (int k = ellipsis_axes_; k > 0; --k) output.push_back(last_of_ellipsis - (k - 1));
    std::string letters;
    for (const frontend::Labelled& input : inputs) {
      for (Label label : input.labels) {
        if (label > 0) letters += static_cast<char>(label);
      }
    }
    std::sort(letters.begin(), letters.end());
    for (char c : letters) {
      if (std::count(letters.begin(), letters.end(), c) == 1) output.push_back(c);
    }
  }

  void check_output() const {
    for (std::size_t i = 0; i < output.size(); ++i) {
      const Label label = output[i];
      if (label > 0 && std::count(output.begin(), output.end(), label) > 1) {
        fail(fmt::format("the output has '{}' twice", static_cast<char>(label)));
      }
      const bool known = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
        return std::find(input.labels.begin(), input.labels.end(), label) != input.labels.end();
      });
      if (!known)
        fail(fmt::format("the output label '{}' is in no operand", static_cast<char>(label)));
    }
    const bool drops_ellipsis =
        ellipsis_axes_ > 0 &&
        std::none_of(output.begin(), output.end(), [](Label label) { return label < 0; });
    if (drops_ellipsis) fail("the output must contain the operands' ellipsis");
  }

  std::string_view text_;
  Site site_;
  int ellipsis_axes_ = 0;
};

}  // namespace

Array einsum(std::string_view subscripts, Arrays operands, SourceLocation where) {
  const std::vector<NodeRef> nodes = frontend::promoted("einsum", operands, where);
  Subscripts parsed(subscripts, nodes, where);
  return Access::make(frontend::contract("einsum", std::move(parsed.inputs), parsed.output, where));
}

}  // namespace heddle
