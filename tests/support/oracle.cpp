#include "tests/support/oracle.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace heddle::test {
namespace {

using nlohmann::json;

std::string oracle_python() {
  const char* chosen = std::getenv("HEDDLE_ORACLE_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : HEDDLE_CONFIGURED_ORACLE_PYTHON;
}

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("the oracle " + what + " (" + oracle_python() +
                           "; ./dev setup makes its environment)");
}

std::vector<std::int64_t> extents_of(const ir::Shape& shape) {
  std::vector<std::int64_t> extents;
  for (const ir::Dim& extent : shape) extents.push_back(extent.constant());
  return extents;
}

json describe(const ir::HostArray& array) {
  return {{"dtype", name_of(array.type.dtype)}, {"shape", extents_of(array.type.shape)}};
}

std::size_t count_of(const ir::Shape& shape) {
  std::size_t count = 1;
  for (const ir::Dim& extent : shape) count *= static_cast<std::size_t>(extent.constant());
  return count;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("got no pipe: " + std::string(std::strerror(errno)));
    read_end = ends[0];
    write_end = ends[1];
  }
};

int spawn_python(const Pipe& requests, const Pipe& answers) {
  const std::string python = oracle_python();
  const std::string script = HEDDLE_SOURCE_FOLDER "/tests/oracle/oracle.py";
  // -B: the source tree stays free of bytecode.
  const char* arguments[] = {python.c_str(), "-B", script.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, requests.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers.write_end, STDOUT_FILENO);
  pid_t process = -1;
  const int status = ::posix_spawnp(&process, python.c_str(), &actions, nullptr,
                                    const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) fail("does not start: " + std::string(std::strerror(status)));
  return process;
}

std::mutex& exchange_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Oracle& Oracle::instance() {
  static Oracle oracle;
  return oracle;
}

Oracle::Oracle() {
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe requests, answers;
  process_ = spawn_python(requests, answers);
  ::close(requests.read_end);
  ::close(answers.write_end);
  requests_ = requests.write_end;
  answers_ = answers.read_end;
}

Oracle::~Oracle() {
  ::close(requests_);
  ::close(answers_);
  int status = 0;
  ::waitpid(process_, &status, 0);
}

void Oracle::send(const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(requests_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("takes no requests");
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void Oracle::receive(void* data, std::size_t size) {
  char* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(answers_, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("ended without an answer");
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
}

OracleResult Oracle::exchange(std::string_view head,
                              std::span<const ir::HostArray* const> buffers) {
  const std::lock_guard lock(exchange_mutex());
  const std::uint64_t head_size = head.size();
  send(&head_size, sizeof head_size);
  send(head.data(), head.size());
  for (const ir::HostArray* buffer : buffers) send(buffer->data.data(), buffer->data.size());

  std::uint64_t answer_size = 0;
  receive(&answer_size, sizeof answer_size);
  constexpr std::uint64_t longest_head = std::uint64_t{1} << 30;
  if (answer_size > longest_head) fail("gives answers that cannot be read");
  std::string text(answer_size, '\0');
  receive(text.data(), text.size());
  const json answer = json::parse(text);

  OracleResult result;
  if (answer.contains("error")) {
    result.error = answer["error"].get<std::string>();
    result.error_type = answer["type"].get<std::string>();
    return result;
  }
  result.text = answer.value("text", "");
  for (const json& output : answer["outputs"]) {
    Expected& expected = result.outputs.emplace_back();
    expected.value.type.dtype = *dtype_from_name(output["dtype"].get<std::string>());
    for (const json& extent : output["shape"]) {
      expected.value.type.shape.emplace_back(extent.get<std::int64_t>());
    }
    expected.ambiguous = output["ambiguous"].get<std::size_t>();
    const std::size_t count = count_of(expected.value.type.shape);
    expected.value.data.resize(count * size_of(expected.value.type.dtype));
    expected.tolerance.resize(count);
    receive(expected.value.data.data(), expected.value.data.size());
    receive(expected.tolerance.data(), count * sizeof(double));
  }
  return result;
}

OracleResult Oracle::ask(const ir::Graph& graph, std::span<const ir::HostArray> inputs,
                         bool contract) {
  return ask(ir::print(graph), inputs, contract);
}

OracleResult Oracle::ask(std::string_view graph_text, std::span<const ir::HostArray> inputs,
                         bool contract) {
  json head = {{"graph", graph_text}, {"contract", contract}, {"inputs", json::array()}};
  std::vector<const ir::HostArray*> buffers;
  for (const ir::HostArray& input : inputs) {
    head["inputs"].push_back(describe(input));
    buffers.push_back(&input);
  }
  return exchange(head.dump(), buffers);
}

OracleResult Oracle::python(std::string_view code,
                            std::span<const std::pair<std::string, ir::HostArray>> inputs) {
  json head = {{"python", code}, {"inputs", json::array()}};
  std::vector<const ir::HostArray*> buffers;
  for (const auto& [name, input] : inputs) {
    json entry = describe(input);
    entry["name"] = name;
    head["inputs"].push_back(entry);
    buffers.push_back(&input);
  }
  return exchange(head.dump(), buffers);
}

}  // namespace heddle::test
