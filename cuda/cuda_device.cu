// The operations of device/device.hpp on a GPU of NVIDIA. All work of a table is on one stream.
#include <algorithm>
#include <memory>
#include <vector>

#include "products.cuh"
#include "row_kernels.cuh"

namespace mfga::cuda {
namespace {

class CudaColumns final : public DeviceColumns {
 public:
  CudaColumns(Index count, Index stride, cudaStream_t stream)
      : numbers_(count * stride, stream), count_(count), stride_(stride) {}
  [[nodiscard]] Index size() const override { return count_; }
  [[nodiscard]] double* column(Index j) const { return numbers_.data() + j * stride_; }

 private:
  DeviceArray<double> numbers_;
  Index count_;
  Index stride_;
};

double* column(const DeviceColumns& columns, Index j) {
  return static_cast<const CudaColumns&>(columns).column(j);
}
// Null if there are none.
double* start_of(const ColumnRange& range) {
  return range.columns == nullptr ? nullptr : column(*range.columns, range.first);
}

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "start"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class CudaRows final : public DeviceRows {
 public:
  CudaRows(int device, Index rows, Index n_inputs)
      : device_(device),
        rows_(rows),
        stride_(padded(rows)),
        inputs_(n_inputs + 1, stride_, stream_),
        square_norms_(stride_, stream_) {
    check(cudaDeviceGetAttribute(&most_shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "be described");
    clear_padding(inputs_);
    check(cudaMemsetAsync(square_norms_.data(), 0, bytes(stride_), stream_), "clear memory");
    fill_ones<<<row_blocks(), kThreads, 0, stream_>>>(rows_, stride_, inputs_.column(n_inputs));
    check_launch("fill a column");
    finish();
  }
  ~CudaRows() override {
    static_cast<void>(cudaSetDevice(device_));
    // After an error something may still be under way.
    static_cast<void>(cudaStreamSynchronize(stream_));
  }

  void set_inputs(Index first_row, Index count, const double* inputs, Index stride,
                  const double* square_norms) override {
    use();
    check(
        cudaMemcpy2DAsync(inputs_.column(0) + first_row, bytes(stride_), inputs, bytes(stride), bytes(count),
                          static_cast<std::size_t>(inputs_.size() - 1), cudaMemcpyHostToDevice, stream_),
        "copy rows");
    check(cudaMemcpyAsync(square_norms_.data() + first_row, square_norms, bytes(count),
                          cudaMemcpyHostToDevice, stream_),
          "copy rows");
    // The caller's arrays may be gone afterwards.
    finish();
  }
  void stretch(std::span<const double> factors) override {
    use();
    const auto n_inputs = static_cast<Index>(factors.size());
    if (given_ == nullptr) {  // what was set is the first copy
      given_ = std::make_unique<CudaColumns>(n_inputs, stride_, stream_);
      if (n_inputs > 0)
        check(cudaMemcpyAsync(given_->column(0), inputs_.column(0), bytes(n_inputs * stride_),
                              cudaMemcpyDeviceToDevice, stream_),
              "copy rows");
    }
    const auto [own_factors] = staging_.copied(stream_, factors);
    stretch_inputs<<<row_blocks(), kThreads, 0, stream_>>>(given_->column(0), own_factors,
                                                           static_cast<int>(n_inputs), stride_, rows_,
                                                           inputs_.column(0), square_norms_.data());
    check_launch("stretch inputs");
  }
  [[nodiscard]] const DeviceColumns& inputs() const override { return inputs_; }

  [[nodiscard]] std::unique_ptr<DeviceColumns> make_columns(Index count) override {
    use();
    auto columns = std::make_unique<CudaColumns>(count, stride_, stream_);
    clear_padding(*columns);
    return columns;
  }
  void set(DeviceColumns& columns, Index j, std::span<const double> values) override {
    use();
    check(cudaMemcpyAsync(column(columns, j), values.data(), values.size_bytes(), cudaMemcpyHostToDevice,
                          stream_),
          "copy a column");
    finish();
  }
  void get(const DeviceColumns& columns, Index j, std::span<double> values) const override {
    use();
    check(cudaMemcpyAsync(values.data(), column(columns, j), values.size_bytes(), cudaMemcpyDeviceToHost,
                          stream_),
          "copy a column back");
    finish();
  }

  void evaluate(const RowFunctions& functions, DeviceColumns& out, Index first) override {
    if (functions.size() == 0) return;
    use();
    const ShownFunctions own = shown(functions);
    for_some_columns(functions.size(), [&](Index begin, Index count) {
      evaluate_functions<<<dim3(row_blocks(), static_cast<unsigned>(count)), kThreads, 0, stream_>>>(
          shown_inputs(), own, static_cast<int>(begin), column(out, first + begin));
    });
    check_launch("evaluate functions");
  }
  void evaluate(const RowMonomials& monomials, DeviceColumns& out, Index first) override {
    if (monomials.size() == 0) return;
    use();
    const auto [factors, rates, ends, inputs] = staging_.copied(
        stream_, std::span<const double>(monomials.factors), std::span<const double>(monomials.rates),
        std::span<const std::int32_t>(monomials.ends), std::span<const std::int32_t>(monomials.inputs));
    const ShownMonomials own{factors, rates, ends, inputs};
    for_some_columns(monomials.size(), [&](Index begin, Index count) {
      evaluate_monomials<<<dim3(row_blocks(), static_cast<unsigned>(count)), kThreads, 0, stream_>>>(
          shown_inputs(), own, static_cast<int>(begin), column(out, first + begin));
    });
    check_launch("evaluate products");
  }

  void combine(std::span<const double> constants, std::span<const double> coefficients, ColumnRange in,
               DeviceColumns& out, Index first) override {
    if (constants.empty()) return;
    use();
    const auto staged = staging_.copied(stream_, constants, coefficients);
    const double* own_constants = std::get<0>(staged);
    const double* own_coefficients = std::get<1>(staged);
    const auto n_out = static_cast<int>(constants.size());
    const auto launch = [&]<int kAtATime>() {
      const dim3 grid(row_blocks(), static_cast<unsigned>((n_out + kAtATime - 1) / kAtATime));
      combine_columns<kAtATime><<<grid, kThreads, 0, stream_>>>(own_constants, own_coefficients, start_of(in),
                                                                static_cast<int>(in.count), n_out, stride_,
                                                                rows_, column(out, first));
    };
    if (n_out == 1) {
      launch.template operator()<1>();
    } else {
      launch.template operator()<8>();
    }
    check_launch("combine columns");
  }
  void multiply(ColumnRange a, ColumnRange b, DeviceColumns& out, Index j) override {
    use();
    multiply_columns<<<row_blocks(), kThreads, 0, stream_>>>(start_of(a), start_of(b), stride_,
                                                             column(out, j));
    check_launch("multiply columns");
  }

  double derivatives(DeviceLoss loss, ColumnRange score, ColumnRange target, ColumnRange weights,
                     DeviceColumns& out, Index first, Index second) override {
    use();
    const Index blocks = row_blocks();
    double* partial = partial_.at_least(blocks, stream_);
    const auto kernel = loss == DeviceLoss::kSquared ? loss_derivatives<DeviceLoss::kSquared>
                                                     : loss_derivatives<DeviceLoss::kLogistic>;
    kernel<<<row_blocks(), kThreads, 0, stream_>>>(start_of(score), start_of(target), start_of(weights),
                                                   rows_, stride_, column(out, first),
                                                   second >= 0 ? column(out, second) : nullptr, partial);
    check_launch("compute losses");
    double sum = 0;
    add_up(partial, blocks, 1, {&sum, 1});
    return sum;
  }

  void pull_back(const RowFunctions& functions, std::span<const double> weights, ColumnRange slope,
                 std::span<double> by_number, std::span<double> by_input) override {
    if (functions.size() == 0) return;
    use();
    const auto [steps, ends, tables, own_weights] = staging_.copied(
        stream_, std::span<const RowStep>(functions.steps), std::span<const std::int32_t>(functions.ends),
        std::span<const double>(functions.tables), weights);
    int longest = 0;
    for (std::size_t f = 0; f < functions.ends.size(); ++f)
      longest = std::max(longest, functions.ends[f] - (f == 0 ? 0 : functions.ends[f - 1]));
    const auto n_steps = static_cast<Index>(functions.steps.size());
    // Few parts, for each has a sum for every step; and enough for every multiprocessor.
    constexpr Index kMostParts = 128;
    constexpr Index kFewestRows = 16 * kPullBackThreads;
    const Index per_part = (stride_ + kMostParts - 1) / kMostParts;
    const Index rows_of_part =
        std::max(kFewestRows, (per_part + kPullBackThreads - 1) / kPullBackThreads * kPullBackThreads);
    const Index n_parts = (stride_ + rows_of_part - 1) / rows_of_part;
    double* partial = partial_.at_least(n_parts * 2 * n_steps, stream_);
    const dim3 grid(static_cast<unsigned>(n_parts), static_cast<unsigned>(functions.size()));
    pull_back_functions<<<grid, kPullBackThreads, bytes(kPullBackThreads / 32 * 2 * longest), stream_>>>(
        shown_inputs(), {steps, ends, tables}, own_weights, start_of(slope), rows_of_part, longest,
        static_cast<int>(n_steps), partial);
    check_launch("derive functions");
    std::vector<double> sums(static_cast<std::size_t>(2 * n_steps));
    add_up(partial, n_parts, 2 * n_steps, sums);
    std::copy_n(sums.begin(), n_steps, by_number.begin());
    std::copy_n(sums.begin() + n_steps, n_steps, by_input.begin());
  }

  void products(ColumnRange a, ColumnRange b, ColumnRange weights, std::span<double> out) override {
    if (a.count == 0 || b.count == 0) return;
    use();
    // The sums of all parts must find room; columns of b are independent of one another. What is one column
    // is better on the left.
    constexpr Index kMostSums = Index{1} << 24;
    if (b.count <= 2 && a.count > 2) {
      std::vector<double> other(out.size());
      products(b, a, weights, other);
      for (Index i = 0; i < a.count; ++i)
        for (Index j = 0; j < b.count; ++j)
          out[static_cast<std::size_t>(i * b.count + j)] = other[static_cast<std::size_t>(j * a.count + i)];
      return;
    }
    const Index at_a_time = std::max<Index>(1, kMostSums / a.count);
    if (at_a_time >= b.count) {
      sum(a, b, weights, false, out);
      return;
    }
    std::vector<double> some;
    for (Index begin = 0; begin < b.count; begin += at_a_time) {
      const Index count = std::min(at_a_time, b.count - begin);
      some.resize(static_cast<std::size_t>(a.count * count));
      sum(a, {b.columns, b.first + begin, count}, weights, false, some);
      for (Index i = 0; i < a.count; ++i)
        std::copy_n(some.data() + i * count, count, out.data() + i * b.count + begin);
    }
  }
  void products_with_itself(ColumnRange a, ColumnRange weights, std::span<double> out) override {
    if (a.count == 0) return;
    use();
    constexpr Index kMostColumns = 8192;  // of which the sums of two parts take 1 GiB
    if (a.count > kMostColumns) {
      products(a, a, weights, out);
    } else {
      sum(a, a, weights, true, out);
    }
  }

  void square_norms(ColumnRange a, ColumnRange weights, std::span<double> out) override {
    if (a.count == 0) return;
    use();
    double* partial = partial_.at_least(static_cast<Index>(row_blocks()) * a.count, stream_);
    for_some_columns(a.count, [&](Index begin, Index count) {
      const dim3 grid(row_blocks(), static_cast<unsigned>(count));
      sum_squares<<<grid, kThreads, 0, stream_>>>(column(*a.columns, a.first + begin), start_of(weights),
                                                  stride_, a.count, partial + begin);
    });
    check_launch("sum squares");
    add_up(partial, row_blocks(), a.count, out);
  }

 private:
  [[nodiscard]] static std::size_t bytes(Index numbers) {
    return static_cast<std::size_t>(numbers) * sizeof(double);
  }
  void use() const { check(cudaSetDevice(device_), "be used"); }
  void finish() const { check(cudaStreamSynchronize(stream_), "finish"); }
  [[nodiscard]] unsigned row_blocks() const { return static_cast<unsigned>(blocks_for(stride_)); }
  [[nodiscard]] Inputs shown_inputs() const {
    return {inputs_.column(0), square_norms_.data(), stride_, rows_};
  }
  void clear_padding(const CudaColumns& columns) const {
    if (stride_ == rows_ || columns.size() == 0) return;
    check(cudaMemset2DAsync(columns.column(0) + rows_, bytes(stride_), 0, bytes(stride_ - rows_),
                            static_cast<std::size_t>(columns.size()), stream_),
          "clear memory");
  }
  [[nodiscard]] ShownFunctions shown(const RowFunctions& functions) {
    const auto [steps, ends, tables] = staging_.copied(stream_, std::span<const RowStep>(functions.steps),
                                                       std::span<const std::int32_t>(functions.ends),
                                                       std::span<const double>(functions.tables));
    return {steps, ends, tables};
  }
  // A grid has no more than so many blocks in its second direction.
  template <class Launch>
  static void for_some_columns(Index count, Launch launch) {
    constexpr Index kMost = 65535;
    for (Index begin = 0; begin < count; begin += kMost) launch(begin, std::min(kMost, count - begin));
  }

  // Parts of the rows that are summed by themselves, where so many blocks are needed for each: so many that
  // every multiprocessor has some, but whatever their number is on this GPU.
  [[nodiscard]] Index rows_of_part(Index blocks_of_part) const {
    constexpr Index kBlocks = 1056;
    constexpr Index kMostParts = 264;
    constexpr Index kFewestRows = 4 * kRowTile;
    const Index parts = std::clamp<Index>((kBlocks + blocks_of_part - 1) / blocks_of_part, 1, kMostParts);
    return std::max(kFewestRows, padded((stride_ + parts - 1) / parts));
  }

  // The tiles that multiply fastest need more shared memory than GPUs other than those for data centres have.
  void sum(ColumnRange a, ColumnRange b, ColumnRange weights, bool is_symmetric, std::span<double> out) {
    if (a.count <= 2 && !is_symmetric) {
      a.count == 1 ? sum_of_few<1>(a, b, weights, out) : sum_of_few<2>(a, b, weights, out);
    } else if (a.count <= 96 && is_symmetric) {
      sum_by_tiles<2, 4, 3, 3, true>(a, b, weights, is_symmetric, out);
    } else if (a.count > 32 && has_shared<ProductTile<4, 4, 2, 4, false>>()) {
      sum_by_tiles<4, 4, 2, 4, false>(a, b, weights, is_symmetric, out);
    } else if (a.count > 16 && has_shared<ProductTile<2, 4, 1, 4, false>>()) {
      sum_by_tiles<2, 4, 1, 4, false>(a, b, weights, false, out);
    } else {
      sum_by_tiles<1, 4, 1, 4, false>(a, b, weights, false, out);
    }
  }
  template <class Tile>
  [[nodiscard]] bool has_shared() const {
    return Tile::kSharedBytes <= static_cast<std::size_t>(most_shared_);
  }

  template <int kOfA>
  void sum_of_few(ColumnRange a, ColumnRange b, ColumnRange weights, std::span<double> out) {
    const Index groups = (b.count + kFewWide - 1) / kFewWide;
    const ProductTask task = task_of(a, b, weights, false, rows_of_part(groups));
    const Index parts = (stride_ + task.rows_of_part - 1) / task.rows_of_part;
    double* partial = partial_.at_least(parts * a.count * b.count, stream_);
    const auto kernel =
        weights.columns != nullptr ? sum_few_products<kOfA, true> : sum_few_products<kOfA, false>;
    kernel<<<dim3(static_cast<unsigned>(parts), static_cast<unsigned>(groups)), kThreads, 0, stream_>>>(
        task, partial);
    check_launch("sum products");
    add_up(partial, parts, a.count * b.count, out);
  }

  template <int kHigh, int kWide, int kDown, int kAcross, bool kOwn>
  void sum_by_tiles(ColumnRange a, ColumnRange b, ColumnRange weights, bool is_symmetric,
                    std::span<double> out) {
    using Tile = ProductTile<kHigh, kWide, kDown, kAcross, kOwn>;
    const Index down = (a.count + Tile::kHeight - 1) / Tile::kHeight;
    const Index across = (b.count + Tile::kWidth - 1) / Tile::kWidth;
    const Index tiles = is_symmetric ? down * (down + 1) / 2 : down * across;
    const ProductTask task = task_of(a, b, weights, is_symmetric, rows_of_part(tiles));
    const Index parts = (stride_ + task.rows_of_part - 1) / task.rows_of_part;
    double* partial = partial_.at_least(parts * a.count * b.count, stream_);
    const auto kernel = weights.columns != nullptr ? sum_products<kHigh, kWide, kDown, kAcross, kOwn, true>
                                                   : sum_products<kHigh, kWide, kDown, kAcross, kOwn, false>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(Tile::kSharedBytes)),
          "find shared memory");
    kernel<<<dim3(static_cast<unsigned>(parts), static_cast<unsigned>(tiles)), Tile::kThreads,
             Tile::kSharedBytes, stream_>>>(task, partial);
    check_launch("sum products");
    add_up(partial, parts, a.count * b.count, out);
  }

  [[nodiscard]] ProductTask task_of(ColumnRange a, ColumnRange b, ColumnRange weights, bool is_symmetric,
                                    Index rows) const {
    return {start_of(a),
            start_of(b),
            start_of(weights),
            static_cast<int>(a.count),
            static_cast<int>(b.count),
            is_symmetric,
            stride_,
            rows};
  }

  void add_up(const double* partial, Index n_parts, Index size, std::span<double> out) {
    double* total = total_.at_least(size, stream_);
    double* pinned = pinned_.at_least(size);
    constexpr Index kOfBlock = kThreads / 8;
    add_parts<<<static_cast<unsigned>((size + kOfBlock - 1) / kOfBlock), kThreads, 0, stream_>>>(
        partial, n_parts, size, total);
    check_launch("add sums up");
    check(cudaMemcpyAsync(pinned, total, bytes(size), cudaMemcpyDeviceToHost, stream_), "copy sums back");
    finish();
    std::copy_n(pinned, size, out.data());
  }

  int device_;
  int most_shared_ = 0;  // bytes of shared memory that a block may have
  Stream stream_;
  Index rows_;
  Index stride_;
  std::unique_ptr<CudaColumns> given_;  // inputs before they were stretched; null: as they are
  CudaColumns inputs_;
  DeviceArray<double> square_norms_;
  DeviceArray<double> partial_;  // sums of parts of the rows
  DeviceArray<double> total_;
  PinnedArray<double> pinned_;
  Staging staging_;
};

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceInfo describe(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "be described");
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "be described");
  check(cudaSetDevice(device), "be used");
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "be described");
  return {properties.name, "sm_" + std::to_string(properties.major) + std::to_string(properties.minor),
          "CUDA " + version_text(driver), static_cast<double>(total), static_cast<double>(free)};
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int device) : device_(device) {
    // Memory that was given back is kept for the next who wants some.
    cudaMemPool_t pool = nullptr;
    check(cudaSetDevice(device), "be used");
    check(cudaDeviceGetDefaultMemPool(&pool, device), "be used");
    std::uint64_t all = ~std::uint64_t{0};
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "be used");
    // A kernel that cannot run here at all, such as one without code for this GPU, is found out now.
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, multiply_columns), "load its code");
  }
  [[nodiscard]] DeviceInfo info() const override { return describe(device_); }
  // A call takes some 20 us, and a pass a few of them; two cores go through some 5e8 values per second.
  [[nodiscard]] double fewest_values() const override { return 0x1p21; }
  [[nodiscard]] double free_bytes() const override {
    check(cudaSetDevice(device_), "be used");
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "be described");
    cudaMemPool_t pool = nullptr;
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    check(cudaDeviceGetDefaultMemPool(&pool, device_), "be described");
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "be described");
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "be described");
    return static_cast<double>(free) + static_cast<double>(reserved - used);
  }
  [[nodiscard]] std::unique_ptr<DeviceRows> make_rows(Index rows, Index inputs) override {
    check(cudaSetDevice(device_), "be used");
    return std::make_unique<CudaRows>(device_, rows, inputs);
  }
  void trim() override {
    cudaMemPool_t pool = nullptr;
    if (cudaDeviceGetDefaultMemPool(&pool, device_) == cudaSuccess)
      static_cast<void>(cudaMemPoolTrimTo(pool, 0));
    static_cast<void>(cudaGetLastError());
  }

 private:
  int device_;
};

// How many GPUs there are; if none, `why_none` says why.
int count_devices(std::string& why_none) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    why_none = driver == 0 ? "there is no driver of NVIDIA here; install it"
                           : "the driver of NVIDIA knows CUDA " + version_text(driver) + ", and CUDA " +
                                 version_text(CUDART_VERSION) + " is needed; install a newer driver";
  } else if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    why_none = "the driver of NVIDIA finds no GPU (CUDA_VISIBLE_DEVICES may hide it)";
  } else if (status != cudaSuccess) {
    why_none = std::string("the driver of NVIDIA says: ") + cudaGetErrorString(status);
  }
  static_cast<void>(cudaGetLastError());
  return status == cudaSuccess ? count : 0;
}

// Whether there is code for it; else `why` says why not.
bool is_usable(int device, std::string& why) {
  constexpr int kOldest = 8;
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "be described");
  if (major >= kOldest) return true;
  why = "the GPU is too old: Ampere (compute capability 8.0) or newer is needed";
  return false;
}

std::vector<DeviceInfo> list(std::string& why_none) {
  std::vector<DeviceInfo> devices;
  const int count = count_devices(why_none);
  for (int device = 0; device < count; ++device) {
    try {
      if (is_usable(device, why_none)) devices.push_back(describe(device));
    } catch (const DeviceError& error) {
      why_none = error.what();  // of this one
    }
  }
  return devices;
}

std::unique_ptr<Device> open(std::string& why_none) {
  if (count_devices(why_none) == 0 || !is_usable(0, why_none)) return nullptr;
  return std::make_unique<CudaDevice>(0);
}

}  // namespace
}  // namespace mfga::cuda

extern "C" __attribute__((visibility("default"))) const mfga::DevicePlugin* mfga_device_plugin() {
  static const mfga::DevicePlugin plugin{mfga::kDeviceInterface, MFGA_VERSION, mfga::cuda::list,
                                         mfga::cuda::open};
  return &plugin;
}
