// The spectrogram of a noisy signal: three steady tones, and a chirp that rises through them. What
// cuts the signal into windows, transforms them and takes their levels in decibels is one kernel.

#include <array>
#include <cstdio>
#include <numbers>
#include <utility>

#include <heddle/heddle.h>

#include "../example.h"

namespace hd = heddle;

namespace {

// Samples a second, in a window, and between two windows.
constexpr std::int64_t rate = 8192, window_length = 512, hop = 128;

/// Numbers from -0.2 to 0.2 that look random, and are equal wherever they are made.
hd::Array noise(std::int64_t count) {
  constexpr std::int64_t modulus = std::int64_t{1} << 32;
  hd::Array mixed = hd::arange(count);
  for (int i = 0; i < 2; ++i) mixed = (mixed ^ (mixed >> 15)) * 73244475 % modulus;
  return mixed / modulus * 0.4 - 0.2;
}

hd::Array signal(std::int64_t count) {
  constexpr double pi = std::numbers::pi;
  const hd::Array t = hd::arange(count) / rate;
  const double seconds = static_cast<double>(count) / static_cast<double>(rate);
  const hd::Array chirp = hd::sin(2 * pi * (200 * t + 1700 / seconds * t * t));  // to 3600 Hz
  hd::Array steady = hd::zeros_like(t);
  for (const auto& [frequency, level] : {std::pair{440.0, 0.5}, {1234.5, 0.25}, {2500.0, 0.1}})
    steady += level * hd::sin(2 * pi * frequency * t);
  return (steady + chirp + noise(count)).astype<float>();
}

/// Levels in dB, [windows, window_length / 2 + 1]; a sine of amplitude 1 has 0.
hd::Array spectrogram(const hd::Array& x) {
  const hd::Array window = hd::hanning(window_length + 1)(hd::slice(0, -1)).astype<float>();
  const hd::Array windows =
      hd::sliding_window_view(x, window_length)(hd::slice(hd::none, hd::none, hop));
  const hd::Array spectrum = hd::fft::rfft(windows * window) * (4.0 / window_length);
  const hd::Array re = hd::real(spectrum), im = hd::imag(spectrum);
  return 10 * hd::log10(re * re + im * im + 1e-12);
}

/// Of frequencies 1 to n - 1: whether a steady tone is there, its frequency in Hz, its level.
std::array<hd::Array, 3> peaks(const hd::Array& levels) {
  const hd::Array steady = hd::median(levels, {0});  // the chirp is soon gone
  const hd::Array floor = hd::median(steady);
  const hd::Array below = steady(hd::slice(-2)), here = steady(hd::slice(1, -1));
  const hd::Array above = steady(hd::slice(2, hd::none));
  const hd::Array found = (here > below) & (here > above) & (here > floor + 12);
  // The vertex of the parabola through three levels.
  const hd::Array offset = (below - above) / (2 * (below - 2 * here + above));
  const hd::Array place = hd::arange(1, levels.shape(1) - 1) + offset;
  constexpr double step = static_cast<double>(rate) / window_length;
  return {found, place * step, here - (below - above) * offset / 4};
}

void run(const Options& options) {
  const hd::Array x = signal(options.size);
  const hd::Array levels = hd::jit(spectrogram, {.name = "spectrogram"})(x);
  const auto [found, frequencies, heights] = hd::jit(peaks, {.name = "peaks"})(levels);
  const std::int64_t count = levels.shape(0);
  std::printf("%lld samples, %lld windows, %lld frequencies\n",
              static_cast<long long>(options.size), static_cast<long long>(count),
              static_cast<long long>(levels.shape(1)));
  std::printf("levels: median %.2f dB, highest %.2f dB\n", hd::median(levels).item<double>(),
              levels.max().item<double>());
  for (const std::int64_t place : hd::flatnonzero(found).to_vector<std::int64_t>()) {
    std::printf("tone: %.1f Hz, %.2f dB\n", frequencies(place).item<double>(),
                heights(place).item<double>());
  }
  const std::vector<std::int64_t> chirp = hd::argmax(levels, 1).to_vector<std::int64_t>();
  for (std::int64_t part = 1; part < 4; ++part) {
    const std::int64_t place = count * part / 4;
    std::printf("loudest in window %lld: %lld Hz\n", static_cast<long long>(place),
                static_cast<long long>(chirp[place] * rate / window_length));
  }
  if (!options.out.empty()) hd::save(options.out, levels);
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, {.size = 65536}, run); }
