//! section launch_table
// The parameters of several launches that run as one: a row for each, whose last value has the
// launch's own number of blocks (low) and the largest number of blocks of any row (high).
struct alignas(16) LaunchValue {
  unsigned long long low, high;
};

template <int Rows, int Columns>
struct LaunchTable {
  LaunchValue rows[Rows][Columns];
};

template <class T>
__device__ __forceinline__ T launch_value(const LaunchValue& given) {
  T value;
  memcpy(&value, &given, sizeof(value));
  return value;
}
