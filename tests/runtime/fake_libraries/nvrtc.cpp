// An NVRTC that compiles nothing: it knows the architectures that HEDDLE_FAKE_NVRTC_ARCHS lists,
// gives code that the fake driver takes, or what HEDDLE_FAKE_NVRTC_CODE says, and refuses text that
// has HEDDLE_FAKE_NVRTC_REFUSE in it, naming the line.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::vector<int> architectures() {
  std::vector<int> result;
  std::istringstream text(variable("HEDDLE_FAKE_NVRTC_ARCHS", "75,80,90"));
  for (std::string one; std::getline(text, one, ',');) result.push_back(std::stoi(one));
  return result;
}

struct Program {
  std::string source, name, log, code;
  std::map<std::string, std::string> symbols;  ///< of name expressions
};

std::string code_for(const std::string& option) {
  const std::string code = variable("HEDDLE_FAKE_NVRTC_CODE", "");
  return code.empty() ? "\x7f"
                        "ELF of " +
                            option
                      : code;
}

int write_size(const std::string& text, std::size_t* bytes) { return *bytes = text.size(), 0; }
int write_text(const std::string& text, char* out) {
  return std::memcpy(out, text.data(), text.size()), 0;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) { return *major = 99, *minor = 0, 0; }
int nvrtcGetNumSupportedArchs(int* count) {
  return *count = static_cast<int>(architectures().size()), 0;
}
int nvrtcGetSupportedArchs(int* list) {
  for (const int one : architectures()) *list++ = one;
  return 0;
}
const char* nvrtcGetErrorString(int result) {
  return result == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION";
}
int nvrtcCreateProgram(Program** program, const char* source, const char* name, int,
                       const char* const*, const char* const*) {
  return *program = new Program{source, name, {}, {}, {}}, 0;
}
int nvrtcDestroyProgram(Program** program) { return delete *program, *program = nullptr, 0; }
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  const std::string refused = variable("HEDDLE_FAKE_NVRTC_REFUSE", "");
  std::istringstream lines(program->source);
  int number = 1;
  for (std::string line; !refused.empty() && std::getline(lines, line); ++number) {
    if (line.find(refused) == std::string::npos) continue;
    program->log = "line " + std::to_string(number) + ": error: it has " + refused + "\n";
    return 6;
  }
  for (int i = 0; i < count; ++i) {
    if (std::string(options[i]).starts_with("--gpu-architecture="))
      program->code = code_for(options[i]);
  }
  return 0;
}
int nvrtcAddNameExpression(Program* program, const char* expression) {
  const std::string refused = variable("HEDDLE_FAKE_NVRTC_REFUSE", "");
  if (!refused.empty() && std::string(expression).find(refused) != std::string::npos) return 6;
  program->symbols[expression] = "lowered " + std::string(expression);
  return 0;
}
int nvrtcGetLoweredName(Program* program, const char* expression, const char** symbol) {
  return *symbol = program->symbols.at(expression).c_str(), 0;
}
int nvrtcGetPTXSize(Program* program, std::size_t* bytes) {
  return write_size(program->code, bytes);
}
int nvrtcGetPTX(Program* program, char* text) { return write_text(program->code, text); }
int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
  return write_size(program->code, bytes);
}
int nvrtcGetCUBIN(Program* program, char* text) { return write_text(program->code, text); }
int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  return write_size(program->log, bytes);
}
int nvrtcGetProgramLog(Program* program, char* text) { return write_text(program->log, text); }
}
