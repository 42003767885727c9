#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "passes/program/check_program.h"

namespace heddle::passes {

namespace {

using Json = nlohmann::json;

Json dim_json(const Dim& dim) {
  return dim.is_constant() ? Json(dim.constant()) : Json(dim.to_string());
}
Dim dim_of(const Json& json) {
  return json.is_string() ? Dim::parse(json.get<std::string>()) : Dim(json.get<std::int64_t>());
}

DType dtype_of(const Json& json) {
  const auto dtype = dtype_from_name(json.get<std::string>());
  if (!dtype) throw ParseError("program: unknown dtype " + json.dump());
  return *dtype;
}

Json type_json(const ir::Type& type) {
  Json shape = Json::array();
  for (const Dim extent : type.shape) shape.push_back(dim_json(extent));
  return {{"dtype", name_of(type.dtype)}, {"shape", shape}};
}

ir::Type type_of(const Json& json) {
  ir::Type type{dtype_of(json.at("dtype")), {}};
  for (const Json& extent : json.at("shape")) type.shape.push_back(dim_of(extent));
  return type;
}

Json buffer_json(const BufferRef& buffer) { return {static_cast<int>(buffer.kind), buffer.index}; }
BufferRef buffer_of(const Json& json) {
  return {static_cast<BufferRef::Kind>(json.at(0).get<int>()), json.at(1).get<std::uint32_t>()};
}

Json parameter_json(const Parameter& parameter) {
  Json json{{"kind", static_cast<int>(parameter.kind)}};
  switch (parameter.kind) {
    case Parameter::Kind::buffer:
      json["buffer"] = buffer_json(parameter.buffer);
      json["written"] = parameter.written;
      json["cleared"] = parameter.cleared;
      break;
    case Parameter::Kind::size:
      json["value"] = dim_json(parameter.value);
      break;
    case Parameter::Kind::scalar:
      json["scalar"] = parameter.scalar;
      json["dtype"] = name_of(parameter.dtype);
      break;
    case Parameter::Kind::constant:
      json["bits"] = {parameter.bits.low, parameter.bits.high};
      json["dtype"] = name_of(parameter.dtype);
      break;
  }
  return json;
}

Parameter parameter_of(const Json& json) {
  Parameter parameter;
  parameter.kind = static_cast<Parameter::Kind>(json.at("kind").get<int>());
  switch (parameter.kind) {
    case Parameter::Kind::buffer:
      parameter.buffer = buffer_of(json.at("buffer"));
      parameter.written = json.at("written");
      parameter.cleared = json.at("cleared");
      break;
    case Parameter::Kind::size:
      parameter.value = dim_of(json.at("value"));
      break;
    case Parameter::Kind::scalar:
      parameter.scalar = json.at("scalar");
      parameter.dtype = dtype_of(json.at("dtype"));
      break;
    case Parameter::Kind::constant:
      parameter.bits = {json.at("bits").at(0).get<std::uint64_t>(),
                        json.at("bits").at(1).get<std::uint64_t>()};
      parameter.dtype = dtype_of(json.at("dtype"));
      break;
  }
  return parameter;
}

Json kernel_json(const KernelStep& step) {
  Json parameters = Json::array(), grid = Json::array();
  for (const Parameter& parameter : step.parameters)
    parameters.push_back(parameter_json(parameter));
  for (const GridExtent& extent : step.grid)
    grid.push_back({dim_json(extent.elements), extent.per_block, extent.most});
  return {{"kernel", step.kernel},
          {"parameters", parameters},
          {"grid", grid},
          {"block", {step.block[0], step.block[1]}},
          {"shared_bytes", step.shared_bytes},
          {"cluster", step.cluster},
          {"host_grain", step.host_grain},
          {"table_rows", step.table_rows},
          {"together", step.together}};
}

KernelStep kernel_of(const Json& json) {
  KernelStep step;
  step.kernel = json.at("kernel");
  for (const Json& parameter : json.at("parameters"))
    step.parameters.push_back(parameter_of(parameter));
  for (const Json& extent : json.at("grid"))
    step.grid.push_back(
        {dim_of(extent.at(0)), extent.at(1).get<std::int64_t>(), extent.at(2).get<std::int64_t>()});
  step.block[0] = json.at("block").at(0);
  step.block[1] = json.at("block").at(1);
  step.shared_bytes = json.at("shared_bytes");
  step.cluster = json.at("cluster");
  step.host_grain = json.at("host_grain");
  step.table_rows = json.at("table_rows");
  step.together = json.at("together");
  return step;
}

Json factor_json(const Factor& factor) {
  Json json = Json::array({factor.constant});
  if (factor.scalar) json.push_back(*factor.scalar);
  return json;
}
Factor factor_of(const Json& json) {
  Factor factor{json.at(0).get<double>(), std::nullopt};
  if (json.size() > 1) factor.scalar = json.at(1).get<std::uint32_t>();
  return factor;
}

/// Bool and text values as plain JSON, other types as an object whose key is the type.
struct ValueJson {
  Json operator()(bool value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(Dim value) const { return {{"size", dim_json(value)}}; }
  Json operator()(DType value) const { return {{"dtype", name_of(value)}}; }
  Json operator()(const Factor& value) const { return {{"factor", factor_json(value)}}; }
};
CallValue value_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.contains("size")) return dim_of(json.at("size"));
  if (json.contains("dtype")) return dtype_of(json.at("dtype"));
  return factor_of(json.at("factor"));
}

template <class T, class Function>
Json list_json(const std::vector<T>& all, const Function& one) {
  Json list = Json::array();
  for (const T& each : all) list.push_back(one(each));
  return list;
}
template <class Function>
auto list_of(const Json& json, const Function& one) {
  std::vector<decltype(one(json))> list;
  for (const Json& each : json) list.push_back(one(each));
  return list;
}

Json call_buffer_json(const CallBuffer& array) {
  return {buffer_json(array.buffer), name_of(array.dtype)};
}
CallBuffer call_buffer_of(const Json& json) {
  return {buffer_of(json.at(0)), dtype_of(json.at(1))};
}

Json alias_json(const CallAlias& alias) { return {alias.result, alias.operand}; }
CallAlias alias_of(const Json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>()};
}

Json program_json(const Program& program);
Program program_of(const Json& json, int regions = 0);
Json step_json(const Step& step);
/// What a step is part of: a fallback, and the programs of how many regions.
struct Within {
  bool fallback = false;
  int regions = 0;
};
Step step_of(const Json& json, Within within);

Json call_json(const CallStep& call) {
  Json values = Json::object();
  for (const auto& [name, value] : call.values.all()) values[name] = std::visit(ValueJson(), value);
  Json json{
      {"handler", call.handler},
      {"operands", list_json(call.operands, call_buffer_json)},
      {"results", list_json(call.results, call_buffer_json)},
      {"scratch", list_json(call.scratch, buffer_json)},
      {"values", values},
      {"kernels", list_json(call.kernels, kernel_json)},
      {"bodies", list_json(call.bodies, [](const auto& body) { return program_json(*body); })},
      {"aliases", list_json(call.aliases, alias_json)},
      {"operation", call.operation},
      {"what", call.what},
      {"label", call.label},
      {"flops", dim_json(call.flops)}};
  if (call.fallback) {
    json["fallback"] = {{"steps", list_json(call.fallback->steps, step_json)},
                        {"buffers", list_json(call.fallback->buffers, dim_json)}};
  }
  return json;
}

CallStep call_of(const Json& json, Within within) {
  CallStep call;
  call.handler = json.at("handler");
  call.operands = list_of(json.at("operands"), call_buffer_of);
  call.results = list_of(json.at("results"), call_buffer_of);
  call.scratch = list_of(json.at("scratch"), buffer_of);
  for (const auto& [name, value] : json.at("values").items())
    call.values.set(name, value_of(value));
  call.kernels = list_of(json.at("kernels"), kernel_of);
  call.bodies = list_of(json.at("bodies"), [&](const Json& body) {
    return std::make_shared<const Program>(program_of(body, within.regions + 1));
  });
  call.aliases = list_of(json.at("aliases"), alias_of);
  call.operation = json.at("operation");
  call.what = json.at("what");
  call.label = json.at("label");
  call.flops = dim_of(json.at("flops"));
  if (json.contains("fallback")) {
    if (within.fallback) throw ParseError("program: a fallback has a fallback");
    const Json& fallback = json.at("fallback");
    const auto step = [&](const Json& each) {
      return step_of(each, {.fallback = true, .regions = within.regions});
    };
    call.fallback =
        Fallback{list_of(fallback.at("steps"), step), list_of(fallback.at("buffers"), dim_of)};
  }
  return call;
}

Json fill_json(const FillStep& fill) {
  return {{"buffer", buffer_json(fill.buffer)}, {"bytes", dim_json(fill.bytes)}};
}
FillStep fill_of(const Json& json) {
  return {buffer_of(json.at("buffer")), dim_of(json.at("bytes"))};
}

Json step_json(const Step& step) {
  Json json{{"moved", dim_json(step.moved)}, {"origins", step.origins}};
  if (const KernelStep* const kernel = step.kernel()) json["kernel"] = kernel_json(*kernel);
  if (const CallStep* const call = step.call()) json["call"] = call_json(*call);
  if (const FillStep* const fill = step.fill()) json["fill"] = fill_json(*fill);
  return json;
}

Step step_of(const Json& json, Within within) {
  Step step;
  step.moved = dim_of(json.at("moved"));
  step.origins = json.at("origins").get<std::vector<std::uint32_t>>();
  if (json.contains("kernel")) {
    step.work = kernel_of(json.at("kernel"));
  } else if (json.contains("call")) {
    step.work = call_of(json.at("call"), within);
  } else {
    step.work = fill_of(json.at("fill"));
  }
  return step;
}

Json program_json(const Program& program) {
  Json json{{"name", program.name}, {"kernels", program.kernel_names}};
  for (const ProgramInput& input : program.inputs) {
    json["inputs"].push_back({{"type", type_json(input.type)},
                              {"scalar", input.scalar},
                              {"donated", input.donated},
                              {"alignment", input.alignment}});
  }
  for (const ProgramOutput& output : program.outputs) {
    Json entry{{"type", type_json(output.type)}, {"alignment", output.alignment}};
    if (output.input) entry["input"] = *output.input;
    if (output.output) entry["output"] = *output.output;
    json["outputs"].push_back(std::move(entry));
  }
  for (const Temporary& temporary : program.temporaries) {
    json["temporaries"].push_back(
        {dim_json(temporary.bytes), temporary.first_step, temporary.last_step});
  }
  for (const ir::SymbolFact& fact : program.facts) {
    json["facts"].push_back({symbol_name(fact.symbol), fact.minimum, fact.multiple_of});
  }
  for (const ir::Requirement& one : program.requirements) {
    json["requirements"].push_back(
        {dim_json(one.value), dim_json(one.unless_zero), one.breach, one.text});
  }
  for (const Step& step : program.steps) json["steps"].push_back(step_json(step));
  return json;
}

Program program_of(const Json& json, int regions) {
  constexpr int most_nested = 32;
  if (regions > most_nested) throw ParseError("program: regions are nested too deep");
  const auto list = [&](const char* name) {
    return json.contains(name) ? json.at(name) : Json::array();
  };
  Program program;
  program.name = json.at("name");
  program.kernel_names = json.at("kernels").get<std::vector<std::string>>();
  for (const Json& input : list("inputs")) {
    program.inputs.push_back({type_of(input.at("type")), input.at("scalar"), input.at("donated"),
                              input.at("alignment")});
  }
  for (const Json& entry : list("outputs")) {
    ProgramOutput output{type_of(entry.at("type")), {}, {}, entry.at("alignment")};
    if (entry.contains("input")) output.input = entry.at("input").get<std::uint32_t>();
    if (entry.contains("output")) output.output = entry.at("output").get<std::uint32_t>();
    program.outputs.push_back(std::move(output));
  }
  for (const Json& entry : list("temporaries")) {
    program.temporaries.push_back(
        {dim_of(entry.at(0)), entry.at(1).get<std::uint32_t>(), entry.at(2).get<std::uint32_t>()});
  }
  for (const Json& entry : list("facts")) {
    program.facts.push_back({ir::intern_symbol(entry.at(0).get<std::string>()),
                             entry.at(1).get<std::int64_t>(), entry.at(2).get<std::int64_t>()});
  }
  for (const Json& entry : list("requirements")) {
    program.requirements.push_back({dim_of(entry.at(0)),
                                    dim_of(entry.at(1)),
                                    entry.at(2).get<ir::Requirement::Breach>(),
                                    entry.at(3).get<std::string>(),
                                    {}});
  }
  for (const Json& step : list("steps"))
    program.steps.push_back(step_of(step, {.regions = regions}));
  return program;
}

}  // namespace

std::string to_json(const Program& program) { return program_json(program).dump(); }

Program program_from_json(std::string_view text) {
  try {
    Program program = program_of(Json::parse(text));
    check_program(program);
    return program;
  } catch (const Json::exception& error) {
    throw ParseError(std::string("program: ") + error.what());
  }
}

}  // namespace heddle::passes
