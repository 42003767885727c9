#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "passes/program.h"

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
          {"host_grain", step.host_grain}};
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
  return step;
}

Precision precision_of(const Json& json) {
  const auto precision = precision_from_name(json.get<std::string>());
  if (!precision) throw ParseError("program: unknown precision " + json.dump());
  return *precision;
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

Json epilogue_json(const MatmulStep& step) {
  Json json{{"alpha", factor_json(step.alpha)},
            {"beta", factor_json(step.beta)},
            {"activation", static_cast<int>(step.activation)}};
  if (step.stand_by) {
    json["stand_by"] = {{"kernel", kernel_json(step.stand_by->kernel)},
                        {"product", step.stand_by->product},
                        {"dtype", name_of(step.stand_by->dtype)},
                        {"bytes", dim_json(step.stand_by->bytes)}};
  }
  if (step.residual) json["residual"] = buffer_json(*step.residual);
  if (step.bias) json["bias"] = buffer_json(*step.bias);
  return json;
}

void read_epilogue(const Json& json, MatmulStep& step) {
  step.alpha = factor_of(json.at("alpha"));
  step.beta = factor_of(json.at("beta"));
  step.activation = static_cast<Activation>(json.at("activation").get<int>());
  if (json.contains("stand_by")) {
    const Json& stand_by = json.at("stand_by");
    step.stand_by =
        StandBy{kernel_of(stand_by.at("kernel")), stand_by.at("product").get<std::uint32_t>(),
                dtype_of(stand_by.at("dtype")), dim_of(stand_by.at("bytes"))};
  }
  if (json.contains("residual")) step.residual = buffer_of(json.at("residual"));
  if (json.contains("bias")) step.bias = buffer_of(json.at("bias"));
}

Json matmul_json(const MatmulStep& step) {
  return {{"dtype", name_of(step.dtype)},
          {"operand_dtype", name_of(step.operand_dtype)},
          {"epilogue", epilogue_json(step)},
          {"precision", name_of(step.precision)},
          {"rows", dim_json(step.rows)},
          {"columns", dim_json(step.columns)},
          {"depth", dim_json(step.depth)},
          {"batch", dim_json(step.batch)},
          {"a", buffer_json(step.a)},
          {"b", buffer_json(step.b)},
          {"out", buffer_json(step.out)},
          {"leading", {dim_json(step.a_leading), dim_json(step.b_leading)}},
          {"transposed", {step.a_transposed, step.b_transposed}},
          {"batch_strides",
           {dim_json(step.a_batch_stride), dim_json(step.b_batch_stride),
            dim_json(step.out_batch_stride)}}};
}

MatmulStep matmul_of(const Json& json) {
  MatmulStep step;
  step.dtype = dtype_of(json.at("dtype"));
  step.operand_dtype = dtype_of(json.at("operand_dtype"));
  step.precision = precision_of(json.at("precision"));
  read_epilogue(json.at("epilogue"), step);
  step.rows = dim_of(json.at("rows"));
  step.columns = dim_of(json.at("columns"));
  step.depth = dim_of(json.at("depth"));
  step.batch = dim_of(json.at("batch"));
  step.a = buffer_of(json.at("a"));
  step.b = buffer_of(json.at("b"));
  step.out = buffer_of(json.at("out"));
  step.a_leading = dim_of(json.at("leading").at(0));
  step.b_leading = dim_of(json.at("leading").at(1));
  step.a_transposed = json.at("transposed").at(0);
  step.b_transposed = json.at("transposed").at(1);
  step.a_batch_stride = dim_of(json.at("batch_strides").at(0));
  step.b_batch_stride = dim_of(json.at("batch_strides").at(1));
  step.out_batch_stride = dim_of(json.at("batch_strides").at(2));
  return step;
}

Json sort_json(const SortStep& step) {
  Json json{{"dtype", name_of(step.dtype)},   {"indices", step.indices},
            {"rows", dim_json(step.rows)},    {"length", dim_json(step.length)},
            {"keys", buffer_json(step.keys)}, {"out", buffer_json(step.out)},
            {"scratch", Json::array()}};
  for (const BufferRef& scratch : step.scratch) json["scratch"].push_back(buffer_json(scratch));
  if (!step.kernels) return json;
  const SortKernels& kernels = *step.kernels;
  Json list = Json::array();
  for (const SortKernels::Kernel& one : kernels.kernels)
    list.push_back({one.kernel, one.shared_bytes, one.threads, one.tile});
  json["device"] = {{"method", static_cast<int>(kernels.method)}, {"kernels", list}};
  return json;
}

SortStep sort_of(const Json& json) {
  SortStep step;
  step.dtype = dtype_of(json.at("dtype"));
  step.indices = json.at("indices");
  step.rows = dim_of(json.at("rows"));
  step.length = dim_of(json.at("length"));
  step.keys = buffer_of(json.at("keys"));
  step.out = buffer_of(json.at("out"));
  for (const Json& scratch : json.at("scratch")) step.scratch.push_back(buffer_of(scratch));
  if (!json.contains("device")) return step;
  const Json& device = json.at("device");
  SortKernels& kernels = step.kernels.emplace();
  kernels.method = static_cast<SortKernels::Method>(device.at("method").get<int>());
  for (const Json& one : device.at("kernels"))
    kernels.kernels.push_back({one.at(0), one.at(1), one.at(2), one.at(3)});
  return step;
}

Json work_json(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kernel:
      return {{"launch", kernel_json(step.kernel)}};
    case Step::Kind::matmul:
      return {{"matmul", matmul_json(step.matmul)}};
    case Step::Kind::sort:
      return {{"sort", sort_json(step.sort)}};
    case Step::Kind::zero:
      break;
  }
  return {
      {"zero", {{"buffer", buffer_json(step.zero.buffer)}, {"bytes", dim_json(step.zero.bytes)}}}};
}

Json step_json(const Step& step) {
  Json json = work_json(step);
  json["moved"] = dim_json(step.moved);
  json["origins"] = step.origins;
  return json;
}

Step step_of(const Json& json) {
  Step step;
  step.moved = dim_of(json.at("moved"));
  step.origins = json.at("origins").get<std::vector<std::uint32_t>>();
  if (json.contains("launch")) {
    step.kernel = kernel_of(json.at("launch"));
  } else if (json.contains("matmul")) {
    step.kind = Step::Kind::matmul;
    step.matmul = matmul_of(json.at("matmul"));
  } else if (json.contains("sort")) {
    step.kind = Step::Kind::sort;
    step.sort = sort_of(json.at("sort"));
  } else {
    step.kind = Step::Kind::zero;
    const Json& zero = json.at("zero");
    step.zero = {buffer_of(zero.at("buffer")), dim_of(zero.at("bytes"))};
  }
  return step;
}

}  // namespace

std::string to_json(const Program& program) {
  Json json{{"name", program.name}, {"kernels", program.kernel_names}};
  for (const ProgramInput& input : program.inputs) {
    json["inputs"].push_back({{"type", type_json(input.type)},
                              {"scalar", input.scalar},
                              {"donated", input.donated},
                              {"alignment", input.alignment}});
  }
  for (const ProgramOutput& output : program.outputs) {
    Json entry{{"type", type_json(output.type)}};
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
  return json.dump();
}

Program program_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
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
      ProgramOutput output{type_of(entry.at("type")), {}, {}};
      if (entry.contains("input")) output.input = entry.at("input").get<std::uint32_t>();
      if (entry.contains("output")) output.output = entry.at("output").get<std::uint32_t>();
      program.outputs.push_back(std::move(output));
    }
    for (const Json& entry : list("temporaries")) {
      program.temporaries.push_back({dim_of(entry.at(0)), entry.at(1).get<std::uint32_t>(),
                                     entry.at(2).get<std::uint32_t>()});
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
    for (const Json& step : list("steps")) program.steps.push_back(step_of(step));
    return program;
  } catch (const Json::exception& error) {
    throw ParseError(std::string("program: ") + error.what());
  }
}

}  // namespace heddle::passes
