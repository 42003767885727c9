#pragma once
//! section fft_butterfly needs core
// Discrete Fourier transforms of R complex numbers, in place. Real and imaginary parts are separate
// arrays. V is a real type, or, on the host, a vector of several transforms' numbers. The forward
// transform is y_k = sum of x_j exp(-2 pi i j k / R).
template <class T, bool Inverse, class V>
HD_SCALAR void fft_turn_quarter(V& re, V& im) {  // times -i, or i
  const V old = re;
  re = Inverse ? -im : im;
  im = Inverse ? old : -old;
}

template <class T, class V>
HD_SCALAR void fft_sum_difference(V& a, V& b) {
  const V sum = a + b;
  b = a - b;
  a = sum;
}

template <class T, bool Inverse, class V>
HD_SCALAR void fft_two(V& a_re, V& a_im, V& b_re, V& b_im) {
  fft_sum_difference<T>(a_re, b_re);
  fft_sum_difference<T>(a_im, b_im);
}

template <class T, bool Inverse, class V>
HD_SCALAR void fft_four(V (&re)[4], V (&im)[4]) {
  fft_two<T, Inverse>(re[0], im[0], re[2], im[2]);
  fft_two<T, Inverse>(re[1], im[1], re[3], im[3]);
  fft_turn_quarter<T, Inverse>(re[3], im[3]);
  fft_two<T, Inverse>(re[0], im[0], re[1], im[1]);
  fft_two<T, Inverse>(re[2], im[2], re[3], im[3]);
  const V old_re = re[1], old_im = im[1];
  re[1] = re[2];
  im[1] = im[2];
  re[2] = old_re;
  im[2] = old_im;
}

// Multiplies by c - i s; the inverse multiplies by c + i s.
template <class T, bool Inverse, class V>
HD_SCALAR void fft_turn(V& re, V& im, T c, T s) {
  const T sine = Inverse ? -s : s;
  const V old = re;
  re = re * c + im * sine;
  im = im * c - old * sine;
}

template <class T, bool Inverse, class V>
HD_SCALAR void fft_eight(V (&re)[8], V (&im)[8]) {
  V even_re[4] = {re[0], re[2], re[4], re[6]}, even_im[4] = {im[0], im[2], im[4], im[6]};
  V odd_re[4] = {re[1], re[3], re[5], re[7]}, odd_im[4] = {im[1], im[3], im[5], im[7]};
  fft_four<T, Inverse>(even_re, even_im);
  fft_four<T, Inverse>(odd_re, odd_im);
  const T half = static_cast<T>(0.7071067811865476);
  const V sum_1 = odd_re[1] + odd_im[1], difference_1 = odd_im[1] - odd_re[1];
  const V sum_3 = odd_re[3] + odd_im[3], difference_3 = odd_im[3] - odd_re[3];
  if constexpr (Inverse) {
    odd_im[1] = sum_1 * half;
    odd_re[1] = -difference_1 * half;
    odd_re[3] = -sum_3 * half;
    odd_im[3] = -difference_3 * half;
  } else {
    odd_re[1] = sum_1 * half;
    odd_im[1] = difference_1 * half;
    odd_re[3] = difference_3 * half;
    odd_im[3] = -sum_3 * half;
  }
  fft_turn_quarter<T, Inverse>(odd_re[2], odd_im[2]);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    re[k] = even_re[k] + odd_re[k];
    im[k] = even_im[k] + odd_im[k];
    re[k + 4] = even_re[k] - odd_re[k];
    im[k + 4] = even_im[k] - odd_im[k];
  }
}

// A transform of 16: four transforms of 4, multiplication by powers of exp(-2 pi i / 16), and again
// four transforms of 4.
template <class T, bool Inverse, class V>
HD_SCALAR void fft_sixteen(V (&re)[16], V (&im)[16]) {
  const T c = static_cast<T>(0.9238795325112867), s = static_cast<T>(0.3826834323650898);
  const T half = static_cast<T>(0.7071067811865476);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    V part_re[4] = {re[j], re[j + 4], re[j + 8], re[j + 12]};
    V part_im[4] = {im[j], im[j + 4], im[j + 8], im[j + 12]};
    fft_four<T, Inverse>(part_re, part_im);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      re[j + 4 * k] = part_re[k];
      im[j + 4 * k] = part_im[k];
    }
  }
  fft_turn<T, Inverse>(re[5], im[5], c, s);
  fft_turn<T, Inverse>(re[6], im[6], half, half);
  fft_turn<T, Inverse>(re[7], im[7], s, c);
  fft_turn<T, Inverse>(re[9], im[9], half, half);
  fft_turn_quarter<T, Inverse>(re[10], im[10]);
  fft_turn<T, Inverse>(re[11], im[11], -half, half);
  fft_turn<T, Inverse>(re[13], im[13], s, c);
  fft_turn<T, Inverse>(re[14], im[14], -half, half);
  fft_turn<T, Inverse>(re[15], im[15], -c, -s);
  V result_re[16], result_im[16];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    V part_re[4] = {re[4 * k], re[4 * k + 1], re[4 * k + 2], re[4 * k + 3]};
    V part_im[4] = {im[4 * k], im[4 * k + 1], im[4 * k + 2], im[4 * k + 3]};
    fft_four<T, Inverse>(part_re, part_im);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      result_re[k + 4 * m] = part_re[m];
      result_im[k + 4 * m] = part_im[m];
    }
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    re[k] = result_re[k];
    im[k] = result_im[k];
  }
}

// Cosine and sine of 2 pi j / R, for 0 < j <= R / 2.
template <int R>
HD_SCALAR double fft_cosine(int j) {
  if constexpr (R == 3) {
    const double values[] = {-0.5};
    return values[j - 1];
  } else if constexpr (R == 5) {
    const double values[] = {0.30901699437494745, -0.8090169943749475};
    return values[j - 1];
  } else if constexpr (R == 7) {
    const double values[] = {0.6234898018587335, -0.2225209339563144, -0.9009688679024191};
    return values[j - 1];
  } else if constexpr (R == 11) {
    const double values[] = {0.8412535328311812, 0.41541501300188644, -0.14231483827328514,
                             -0.6548607339452851, -0.9594929736144974};
    return values[j - 1];
  } else if constexpr (R == 13) {
    const double values[] = {0.8854560256532099,  0.5680647467311558,  0.12053668025532305,
                             -0.3546048870425356, -0.7485107481711011, -0.970941817426052};
    return values[j - 1];
  }
}
template <int R>
HD_SCALAR double fft_sine(int j) {
  if constexpr (R == 3) {
    const double values[] = {0.8660254037844386};
    return values[j - 1];
  } else if constexpr (R == 5) {
    const double values[] = {0.9510565162951535, 0.5877852522924731};
    return values[j - 1];
  } else if constexpr (R == 7) {
    const double values[] = {0.7818314824680298, 0.9749279121818236, 0.4338837391175581};
    return values[j - 1];
  } else if constexpr (R == 11) {
    const double values[] = {0.5406408174555976, 0.9096319953545183, 0.9898214418809327,
                             0.7557495743542583, 0.28173255684142967};
    return values[j - 1];
  } else if constexpr (R == 13) {
    const double values[] = {0.46472317204376856, 0.8229838658936564, 0.992708874098054,
                             0.9350162426854148,  0.6631226582407952, 0.23931566428755777};
    return values[j - 1];
  }
}

// A transform of an odd prime R. The sums and differences of x_j and x_(R - j) are computed first;
// then all factors are real.
template <class T, int R, bool Inverse, class V>
HD_SCALAR void fft_odd(V (&re)[R], V (&im)[R]) {
  constexpr int half = R / 2;
  V sum_re[half], sum_im[half], difference_re[half], difference_im[half];
  V total_re = re[0], total_im = im[0];
#pragma unroll
  for (int j = 0; j < half; ++j) {
    sum_re[j] = re[j + 1] + re[R - 1 - j];
    sum_im[j] = im[j + 1] + im[R - 1 - j];
    difference_re[j] = re[j + 1] - re[R - 1 - j];
    difference_im[j] = im[j + 1] - im[R - 1 - j];
    total_re = total_re + sum_re[j];
    total_im = total_im + sum_im[j];
  }
#pragma unroll
  for (int k = 1; k <= half; ++k) {
    V cosines_re = re[0], cosines_im = im[0], sines_re = V{}, sines_im = V{};
#pragma unroll
    for (int j = 1; j <= half; ++j) {
      const int at = j * k % R;
      const bool upper = 2 * at > R;
      const int folded = upper ? R - at : at;
      const T c = static_cast<T>(fft_cosine<R>(folded));
      const T sine = static_cast<T>(fft_sine<R>(folded));
      const T s = upper != Inverse ? -sine : sine;
      cosines_re = cosines_re + sum_re[j - 1] * c;
      cosines_im = cosines_im + sum_im[j - 1] * c;
      sines_re = sines_re + difference_im[j - 1] * s;
      sines_im = sines_im + difference_re[j - 1] * s;
    }
    re[k] = cosines_re + sines_re;
    im[k] = cosines_im - sines_im;
    re[R - k] = cosines_re - sines_re;
    im[R - k] = cosines_im + sines_im;
  }
  re[0] = total_re;
  im[0] = total_im;
}

template <class T, int R, bool Inverse, class V>
HD_SCALAR void fft_butterfly(V (&re)[R], V (&im)[R]) {
  if constexpr (R == 2) {
    fft_two<T, Inverse>(re[0], im[0], re[1], im[1]);
  } else if constexpr (R == 4) {
    fft_four<T, Inverse>(re, im);
  } else if constexpr (R == 8) {
    fft_eight<T, Inverse>(re, im);
  } else if constexpr (R == 16) {
    fft_sixteen<T, Inverse>(re, im);
  } else {
    fft_odd<T, R, Inverse>(re, im);
  }
}
