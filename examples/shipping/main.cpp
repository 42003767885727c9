// Ships a program: what one process compiles, another one runs without a compiler.
//   example_shipping save FOLDER                      writes FOLDER/waves.hdp, and compiles into
//   the
//                                                     cache
//   HEDDLE_NO_COMPILE=1 example_shipping run FOLDER   runs both. The file may come from the Python
//                                                     program, too.

#include <cstdio>
#include <string>
#include <vector>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

/// What waves returns: the height at n x n places, and its extremes.
struct Waves {
  hd::Array height, lowest, highest;
};
HEDDLE_STRUCT(Waves, height, lowest, highest)

/// Waves from points [k, 3] (x, y, frequency).
Waves waves(const hd::Array& sources, const hd::Array& place, const hd::Array& time) {
  const hd::Array x = place(hd::newaxis, hd::_), y = place(hd::_, hd::newaxis);
  hd::Array height = hd::asarray(0.0f);
  for (std::int64_t k = 0; k < sources.shape(0); ++k) {
    const hd::Array distance = hd::hypot(x - sources(k, 0), y - sources(k, 1));
    height = height + hd::sin(sources(k, 2) * (distance - time)) / (1 + 4 * distance);
  }
  return {height, hd::min(height), hd::max(height)};
}

auto jitted() {
  return hd::jit(waves, {.name = "waves", .dynamic = {{hd::fixed, hd::fixed}, {"n"}}});
}

void save(const std::string& path) {
  const hd::Spec sources = hd::spec<float>({3, 3}, "sources"),
                 place = hd::spec<float>({"n"}, "place");
  // The program, its graph and its machine code, here for this device: others are named by targets.
  jitted().lower(sources, place, 0.0).save(path);
}

void run(const std::string& path, const Options& options) {
  const hd::Program program = hd::load_program(path);
  std::printf("inputs:");
  for (const hd::ProgramInput& argument : program.inputs()) {
    std::string text = argument.is_number ? "number" : "";
    for (const std::string& extent : argument.shape) text += (text.empty() ? "" : "x") + extent;
    std::printf(" %s", text.c_str());
  }
  std::printf("\n");
  const hd::Array sources =
      hd::array<float>({{-0.5f, -0.4f, 30}, {0.6f, -0.2f, 40}, {0.1f, 0.7f, 25}});
  // Made on the host: hd::linspace would be a program of its own, and have to be compiled as well.
  std::vector<float> places;
  for (std::int64_t i = 0; i < options.size; ++i) {
    places.push_back(
        static_cast<float>(2.0 * static_cast<double>(i) / static_cast<double>(options.size) - 1));
  }
  const hd::Array place = hd::array(places);
  const std::vector<hd::Array> loaded = program({sources, place, 0.25});
  std::printf("from the file: lowest %.5f, highest %.5f\n", loaded[1].item<double>(),
              loaded[2].item<double>());
  const Waves traced = jitted()(sources, place, 0.25);
  std::printf("from the cache: lowest %.5f, highest %.5f\n", traced.lowest.item<double>(),
              traced.highest.item<double>());
  std::printf("runs of a compiler: %d\n", static_cast<int>(hd::statistics().compiler_runs));
  if (!options.out.empty()) hd::save(options.out, loaded[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 2 ? argv[1] : "";
  if (role != "save" && role != "run") {
    std::fprintf(stderr, "usage: %s save|run FOLDER [--size N] [--out FILE]\n", argv[0]);
    return 2;
  }
  const std::string path = std::string(argv[2]) + "/waves.hdp";
  return run_example(argc - 2, argv + 2, {.size = 512}, [&](const Options& options) {
    if (role == "save") {
      save(path);
    } else {
      run(path, options);
    }
  });
}
