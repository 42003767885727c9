#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/fields.h"
#include "ir/graph.h"
#include "ir/literal.h"
#include "ir/scanner.h"

namespace heddle::ir {
namespace {

/// What stands between a line's op and its type.
struct Statement {
  std::size_t position = 0;  ///< of the op's name
  Op op = Op::parameter;
  std::vector<ValueId> operands;
  Attributes attributes;
  std::string_view literal;
  std::size_t literal_position = 0;
};

/// One function a grammar rule; no rule refers to itself, so depth is bounded.
class Parser {
 public:
  Parser(std::string_view text, const char* file) : text_(text), file_(file), scan_(text) {}

  Graph run() {
    scan_.expect_word("func");
    scan_.expect('@');
    graph_.fold_constants = false;
    graph_.name = scan_.name();
    parse_parameters();
    parse_result_types();
    if (scan_.accept_word("where")) parse_facts();
    scan_.expect('{');
    while (!scan_.accept_word("return")) parse_statement();
    parse_return();
    scan_.expect('}');
    scan_.expect_end();
    graph_.fold_constants = true;
    return std::move(graph_);
  }

 private:
  struct Result {
    Type type;
    std::size_t position;
  };

  void parse_parameters() {
    scan_.expect('(');
    if (scan_.accept(')')) return;
    do {
      const auto [name, position] = value_name();
      scan_.expect(':');
      if (scan_.accept_word("scalar")) {
        const DType dtype = parse_dtype();
        define(name, position, at(position, [&] { return graph_.scalar_parameter(dtype); }));
      } else {
        Type type = parse_type();
        define(name, position,
               at(position, [&] { return graph_.parameter(type.dtype, std::move(type.shape)); }));
      }
    } while (scan_.accept(','));
    scan_.expect(')');
  }

  void parse_result_types() {
    scan_.expect('-');
    scan_.expect('>');
    if (!scan_.accept('(')) {
      parse_result_type();
      return;
    }
    if (scan_.accept(')')) return;
    do {
      parse_result_type();
    } while (scan_.accept(','));
    scan_.expect(')');
  }

  void parse_result_type() {
    const std::size_t position = scan_.position();
    results_.push_back({parse_type(), position});
  }

  /// "n >= 2, n % 4 == 0"
  void parse_facts() {
    do {
      const std::size_t position = scan_.position();
      SymbolFact fact;
      const std::string_view name = scan_.word("a symbol");
      fact.symbol = at(position, [&] { return intern_symbol(name); });
      if (scan_.accept('%')) {
        fact.multiple_of = scan_.integer();
        scan_.expect('=');
        scan_.expect('=');
        if (scan_.integer() != 0) scan_.fail(position, "a symbol's remainder must be 0");
      } else {
        scan_.expect('>');
        scan_.expect('=');
        fact.minimum = scan_.integer();
      }
      graph_.facts.push_back(fact);
      graph_.facts = at(position, [&] { return merge_facts(graph_.facts); });
    } while (scan_.accept(','));
  }

  void parse_statement() {
    const auto [name, position] = value_name();
    scan_.expect('=');
    Statement statement = parse_op();
    scan_.expect(':');
    Type written = parse_type();
    complete(statement, written);
    const ValueId id = at(statement.position, [&] {
      return graph_.add(statement.op, statement.operands, std::move(statement.attributes),
                        location_of(statement.position));
    });
    check_type(statement.position, info(statement.op).name, graph_.type(id), written);
    define(name, position, id);
  }

  Statement parse_op() {
    Statement statement;
    statement.position = scan_.position();
    const std::string_view word = scan_.word("an op");
    const std::optional<Op> op = op_from_name(word);
    if (!op || *op == Op::parameter) {
      scan_.fail(statement.position, fmt::format("unknown op '{}'", word));
    }
    statement.op = *op;
    const AttributeFields fields = fields_of(*op);
    if (fields.bits) {
      statement.literal_position = scan_.position();
      statement.literal = scan_.literal();
    }
    if (scan_.peek() == '%') {
      do {
        statement.operands.push_back(parse_use());
      } while (scan_.accept(','));
    }
    parse_attributes(statement, fields);
    return statement;
  }

  void parse_attributes(Statement& statement, const AttributeFields& fields) {
    std::vector<std::string_view> seen;
    while (scan_.peek() != ':') {
      const std::size_t position = scan_.position();
      const std::string_view name = scan_.word("an attribute or ':'");
      if (std::ranges::find(seen, name) != seen.end()) {
        scan_.fail(position, fmt::format("attribute {} stands twice", name));
      }
      seen.push_back(name);
      Attributes& attributes = statement.attributes;
      if (name == "axes" && fields.axes) {
        attributes.axes = integers();
      } else if (name == "keepdims" && fields.keepdims) {
        attributes.keepdims = true;
      } else if (name == "starts" && fields.region) {
        attributes.starts = dims_attribute();
      } else if (name == "steps" && fields.region) {
        attributes.steps = dims_attribute();
      } else if (name == "shape" && statement.op == Op::slice_update) {
        attributes.shape = dims_attribute();
      } else if (name == "precision" && fields.precision) {
        attributes.precision = precision_attribute();
      } else {
        scan_.fail(position, fmt::format("expected ':' and the type; {} has no attribute '{}'",
                                         info(statement.op).name, name));
      }
    }
  }

  /// Takes from the written type what the op's text leaves to it.
  void complete(Statement& statement, const Type& written) const {
    const AttributeFields fields = fields_of(statement.op);
    if (fields.dtype) statement.attributes.dtype = written.dtype;
    if (fields.shape && statement.op != Op::slice_update) {
      statement.attributes.shape = written.shape;
    }
    if (fields.bits) {
      const auto bits = parse_literal(written.dtype, statement.literal);
      if (!bits) {
        scan_.fail(
            statement.literal_position,
            fmt::format("'{}' is not a value of {}", statement.literal, name_of(written.dtype)));
      }
      statement.attributes.bits = *bits;
    }
  }

  void parse_return() {
    const std::size_t position = scan_.position();
    if (scan_.peek() == '%') {
      do {
        const std::size_t use = scan_.position();
        const ValueId id = parse_use();
        const std::size_t i = graph_.outputs.size();
        if (i < results_.size()) {
          check_type(use, fmt::format("result {}", i), graph_.type(id), results_[i].type);
        }
        graph_.outputs.push_back(id);
      } while (scan_.accept(','));
    }
    if (graph_.outputs.size() != results_.size()) {
      scan_.fail(position, fmt::format("{} values are returned, but {} are declared",
                                       graph_.outputs.size(), results_.size()));
    }
  }

  void check_type(std::size_t position, std::string_view what, const Type& actual,
                  const Type& written) const {
    if (actual == written) return;
    scan_.fail(position, fmt::format("{} has type {}, but {} is written", what, to_string(actual),
                                     to_string(written)));
  }

  std::pair<std::string_view, std::size_t> value_name() {
    const std::size_t position = scan_.position();
    scan_.expect('%');
    return {scan_.value_word(), position};
  }

  ValueId parse_use() {
    const auto [name, position] = value_name();
    auto found = values_.find(name);
    if (found == values_.end()) {
      scan_.fail(position, fmt::format("%{} is not defined before its use", name));
    }
    return found->second;
  }

  void define(std::string_view name, std::size_t position, ValueId id) {
    if (!values_.emplace(name, id).second) {
      scan_.fail(position, fmt::format("%{} is defined twice", name));
    }
  }

  DType parse_dtype() {
    const std::size_t position = scan_.position();
    const std::string_view word = scan_.word("a dtype");
    const std::optional<DType> dtype = dtype_from_name(word);
    if (!dtype) scan_.fail(position, fmt::format("unknown dtype '{}'", word));
    return *dtype;
  }

  Type parse_type() {
    const DType dtype = parse_dtype();
    return {dtype, dims()};
  }

  std::vector<Dim> dims() {
    scan_.expect('[');
    std::vector<Dim> result;
    if (scan_.accept(']')) return result;
    do {
      result.push_back(parse_dim());
    } while (scan_.accept(','));
    scan_.expect(']');
    return result;
  }

  Dim parse_dim() {
    const std::size_t position = scan_.position();
    const std::string_view text = scan_.until_any_of(",]\n");
    try {
      return Dim::parse(text);
    } catch (const ParseError& error) {
      scan_.fail(position, error.what());
    }
  }

  std::vector<Dim> dims_attribute() {
    scan_.expect('=');
    return dims();
  }

  Precision precision_attribute() {
    scan_.expect('=');
    const std::size_t position = scan_.position();
    const std::string_view word = scan_.word("a precision");
    const std::optional<Precision> precision = precision_from_name(word);
    if (!precision) {
      scan_.fail(position, fmt::format("unknown precision '{}'; it is ieee, tf32 or bf16", word));
    }
    return *precision;
  }

  std::vector<std::int64_t> integers() {
    scan_.expect('=');
    scan_.expect('[');
    std::vector<std::int64_t> result;
    if (scan_.accept(']')) return result;
    do {
      result.push_back(scan_.integer());
    } while (scan_.accept(','));
    scan_.expect(']');
    return result;
  }

  /// Runs `make` and puts the line and column in front of what it throws, whose type stays.
  template <class Make>
  std::invoke_result_t<Make&> at(std::size_t position, Make&& make) const {
    const auto located = [&](const Error& error) {
      return fmt::format("{}: {}", scan_.line_and_column(position), error.what());
    };
    try {
      return make();
    } catch (const ShapeError& error) {
      throw ShapeError(located(error));
    } catch (const DTypeError& error) {
      throw DTypeError(located(error));
    } catch (const IndexError& error) {
      throw IndexError(located(error));
    } catch (const ValueError& error) {
      throw ValueError(located(error));
    }
  }

  /// Positions only grow, so that lines are counted once.
  Location location_of(std::size_t position) {
    if (file_ == nullptr) return {};
    line_ += static_cast<std::uint32_t>(
        std::ranges::count(text_.substr(counted_, position - counted_), '\n'));
    counted_ = position;
    return {file_, line_};
  }

  std::string_view text_;
  const char* file_;
  std::size_t counted_ = 0;  ///< what of the text line_ counts
  std::uint32_t line_ = 1;
  Scanner scan_;
  Graph graph_;
  std::vector<Result> results_;
  std::unordered_map<std::string_view, ValueId> values_;
};

}  // namespace

Graph parse(std::string_view text, const char* file) { return Parser(text, file).run(); }

}  // namespace heddle::ir
