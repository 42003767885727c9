#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"
#include "ir/graph/scan_types.h"
#include "ir/types/fields.h"
#include "ir/types/literal.h"

namespace heddle::ir {
namespace {

/// A value's name and its position in the text. An unused result is named "_".
struct ValueName {
  std::string_view name;
  std::size_t position = 0;
};

/// A statement without its result type.
struct Statement {
  std::size_t position = 0;  ///< of the op's name
  Op op = Op::parameter;
  const CallOp* call = nullptr;
  std::vector<ValueId> operands;
  Attributes attributes;
  std::vector<NamedAttribute> call_attributes;
  std::string_view literal;
  std::size_t literal_position = 0;
  std::string_view name() const { return call != nullptr ? call->name : info(op).name; }
};

/// Converts positions in the text to source locations. Positions must not decrease, so that
/// newlines are counted only once.
class Lines {
 public:
  Lines(std::string_view text, const char* file) : text_(text), file_(file) {}
  Location at(std::size_t position) {
    if (file_ == nullptr) return {};
    line_ += static_cast<std::uint32_t>(
        std::ranges::count(text_.substr(counted_, position - counted_), '\n'));
    counted_ = position;
    return {file_, line_};
  }

 private:
  std::string_view text_;
  const char* file_;
  std::size_t counted_ = 0;  ///< newlines before this position are counted in line_
  std::uint32_t line_ = 1;
};

/// Parses one graph: a function or a region, with one member function for each grammar rule. Only
/// regions nest, up to a limit, so the recursion depth is bounded.
class Parser {
 public:
  Parser(Scanner& scan, Lines& lines, int depth = 0) : scan_(scan), lines_(lines), depth_(depth) {}

  Graph function() {
    scan_.expect_word("func");
    scan_.expect('@');
    graph_.name = scan_.name();
    parse_signature();
    if (scan_.accept_word("where")) parse_facts();
    parse_body();
    scan_.expect_end();
    return std::move(graph_);
  }

  /// The word "region" has been read.
  Graph region() {
    const std::size_t position = scan_.position();
    if (depth_ > most_nested)
      scan_.fail(position, fmt::format("regions may be nested at most {} deep", most_nested));
    parse_signature();
    parse_body();
    return std::move(graph_);
  }

 private:
  static constexpr int most_nested = 32;

  void parse_signature() {
    graph_.fold_constants = false;
    parse_parameters();
    parse_result_types();
  }

  void parse_body() {
    scan_.expect('{');
    while (!scan_.accept_word("return")) parse_statement();
    parse_return();
    scan_.expect('}');
    graph_.fold_constants = true;
  }

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
        const DType dtype = scan_dtype(scan_);
        define(name, position, at(position, [&] { return graph_.scalar_parameter(dtype); }));
      } else {
        Type type = scan_type(scan_);
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
    results_.push_back({scan_type(scan_), position});
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
    std::vector<ValueName> names;
    do {
      names.push_back(result_name());
    } while (scan_.accept(','));
    scan_.expect('=');
    Statement statement = parse_op();
    std::vector<Type> written;
    do {
      scan_.expect(written.empty() ? ':' : ',');
      written.push_back(scan_type(scan_));
    } while (scan_.peek() == ',');
    // Computed before a region is parsed, because the region's lines come later in the text.
    const Location location = lines_.at(statement.position);
    if (statement.call != nullptr) {
      complete_call(statement);
    } else {
      complete(statement, written.front());
    }
    const ValueId id = at(statement.position, [&] {
      return graph_.add(statement.op, statement.operands, std::move(statement.attributes),
                        location);
    });
    define_results(statement, names, written, id);
  }

  void define_results(const Statement& statement, const std::vector<ValueName>& names,
                      const std::vector<Type>& written, ValueId id) {
    const std::size_t count = statement.call != nullptr ? graph_.result_types(id).size() : 1;
    if (names.size() != count || written.size() != count) {
      scan_.fail(statement.position,
                 fmt::format("{} has {} results, but {} are named and {} types are written",
                             statement.name(), count, names.size(), written.size()));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Type type = statement.call != nullptr ? graph_.result_types(id)[i] : graph_.type(id);
      check_type(statement.position, statement.name(), type, written[i]);
      if (names[i].name == unused) continue;
      define(names[i].name, names[i].position, graph_.result(id, i, graph_.node(id).location));
    }
  }

  ValueName result_name() {
    const std::size_t position = scan_.position();
    if (scan_.accept_word(unused)) return {unused, position};
    return value_name();
  }

  Statement parse_op() {
    Statement statement;
    statement.position = scan_.position();
    const std::string_view word = scan_.word("an op");
    const std::optional<Op> op = op_from_name(word);
    if (!op || *op == Op::parameter || *op == Op::result) {
      scan_.fail(statement.position, fmt::format("unknown op '{}'", word));
    }
    statement.op = *op;
    if (*op == Op::call) parse_call_name(statement);
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
    if (*op == Op::call) {
      parse_call_attributes(statement);
    } else {
      parse_attributes(statement, fields);
    }
    return statement;
  }

  void parse_call_name(Statement& statement) {
    const std::size_t position = scan_.position();
    const std::string name = scan_.name();
    statement.call = find_call_op(name);
    if (statement.call == nullptr) scan_.fail(position, fmt::format("unknown call op '{}'", name));
  }

  /// "{mode = "reduced", axis = 1}"
  void parse_call_attributes(Statement& statement) {
    if (!scan_.accept('{')) return;
    do {
      const std::size_t position = scan_.position();
      const std::string_view name = scan_.word("an attribute's name");
      const auto known = std::ranges::find(statement.call->attributes, name, &CallAttribute::name);
      if (known == statement.call->attributes.end()) {
        scan_.fail(position, fmt::format("{} has no attribute '{}'", statement.call->name, name));
      }
      const auto twice =
          std::ranges::find(statement.call_attributes, known->name, &NamedAttribute::first);
      if (twice != statement.call_attributes.end())
        scan_.fail(position, fmt::format("attribute {} is given twice", name));
      scan_.expect('=');
      statement.call_attributes.emplace_back(known->name, scan_value(scan_, known->initial));
    } while (scan_.accept(','));
    scan_.expect('}');
  }

  void complete_call(Statement& statement) {
    std::vector<Region> regions;
    const auto add = [&] {
      regions.push_back(make_region(Parser(scan_, lines_, depth_ + 1).region()));
    };
    for (int i = 0; i < statement.call->regions; ++i) {
      scan_.expect_word("region");
      add();
    }
    while (statement.call->regions < 0 && scan_.accept_word("region")) add();
    statement.attributes.call = at(statement.position, [&] {
      return make_call(*statement.call, statement.call_attributes, std::move(regions));
    });
  }

  void parse_attributes(Statement& statement, const AttributeFields& fields) {
    std::vector<std::string_view> seen;
    while (scan_.peek() != ':') {
      const std::size_t position = scan_.position();
      const std::string_view name = scan_.word("an attribute or ':'");
      if (std::ranges::find(seen, name) != seen.end()) {
        scan_.fail(position, fmt::format("attribute {} is given twice", name));
      }
      seen.push_back(name);
      Attributes& attributes = statement.attributes;
      if (name == "axes" && fields.axes) {
        scan_.expect('=');
        attributes.axes = scan_integers(scan_);
      } else if (name == "keepdims" && fields.keepdims) {
        attributes.keepdims = true;
      } else if (name == "starts" && fields.region) {
        attributes.starts = dims_attribute();
      } else if (name == "steps" && fields.region) {
        attributes.steps = dims_attribute();
      } else if (name == "shape" && statement.op == Op::slice_update) {
        attributes.shape = dims_attribute();
      } else {
        scan_.fail(position, fmt::format("expected ':' and the type; {} has no attribute '{}'",
                                         info(statement.op).name, name));
      }
    }
  }

  /// Sets the attributes that the text form gives only through the result type.
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

  ValueName value_name() {
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

  Dims dims_attribute() {
    scan_.expect('=');
    return scan_dims(scan_);
  }

  /// Runs `make`. Prefixes the message of its exceptions with line and column; their type is kept.
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

  static constexpr std::string_view unused = "_";

  Scanner& scan_;
  Lines& lines_;
  int depth_;
  Graph graph_;
  std::vector<Result> results_;
  std::unordered_map<std::string_view, ValueId> values_;
};

}  // namespace

Graph parse(std::string_view text, const char* file) {
  Scanner scan(text);
  Lines lines(text, file);
  return Parser(scan, lines).function();
}

}  // namespace heddle::ir
