// Memory of the device and errors of its calls.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "device/device.hpp"
#include "mfga/views.hpp"

namespace mfga::cuda {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // it is told once
  const char* advice = status == cudaErrorMemoryAllocation
                           ? "; use fewer rows or candidates, or `device=cpu`"
                           : "; use `device=cpu`, and look at the driver's log (nvidia-smi, dmesg)";
  throw DeviceError(std::string("the GPU could not ") + what + ": " + cudaGetErrorString(status) + advice);
}

inline void check_launch(const char* what) { check(cudaGetLastError(), what); }

// An array in the memory of the device; it is given back in the order of the stream's work.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(Index size, cudaStream_t stream) : size_(size), stream_(stream) {
    if (size == 0) return;
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, static_cast<std::size_t>(size) * sizeof(T), stream), "find memory");
    data_ = static_cast<T*>(memory);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        stream_(other.stream_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_));
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] Index size() const { return size_; }
  // Room for so many, with any values; what was there is lost.
  T* at_least(Index size, cudaStream_t stream) {
    if (size > size_) {
      *this = DeviceArray();
      *this = DeviceArray(size, stream);
    }
    return data_;
  }

 private:
  T* data_ = nullptr;
  Index size_ = 0;
  cudaStream_t stream_ = nullptr;
};

// Memory of the host that the device copies from and to without a detour.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() {
    if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
  }
  T* at_least(Index size) {
    if (size > size_) {
      if (data_ != nullptr) check(cudaFreeHost(std::exchange(data_, nullptr)), "give memory back");
      size_ = 0;
      void* memory = nullptr;
      check(cudaMallocHost(&memory, static_cast<std::size_t>(size) * sizeof(T)), "find memory of the host");
      data_ = static_cast<T*>(memory);
      size_ = size;
    }
    return data_;
  }

 private:
  T* data_ = nullptr;
  Index size_ = 0;
};

// A way for small arrays to the device: they are copied to memory of the host that the device reads by
// itself, one after the other, so that nobody waits for the copies; only where that memory has been used up.
class Staging {
 public:
  // The arrays on the device, where they stay until the next call.
  template <class... T>
  std::tuple<const T*...> copied(cudaStream_t stream, std::span<const T>... arrays) {
    const Index bytes = (rounded(arrays) + ... + Index{0});
    if (used_ + bytes > there_.size()) {
      // What is under way reads the old ones.
      check(cudaStreamSynchronize(stream), "finish");
      here_.at_least(std::max(Index{kBytes}, bytes));
      there_.at_least(std::max(Index{kBytes}, bytes), stream);
      used_ = 0;
    }
    return {copy(arrays, stream)...};  // in their order
  }

 private:
  static constexpr Index kBytes = Index{1} << 20;

  template <class T>
  static Index rounded(std::span<const T> array) {
    return static_cast<Index>((array.size_bytes() + 15) / 16 * 16);
  }
  template <class T>
  const T* copy(std::span<const T> array, cudaStream_t stream) {
    char* from = here_.at_least(0) + used_;
    char* to = there_.data() + used_;
    used_ += rounded(array);
    if (!array.empty()) {
      std::memcpy(from, array.data(), array.size_bytes());
      check(cudaMemcpyAsync(to, from, array.size_bytes(), cudaMemcpyHostToDevice, stream), "copy numbers");
    }
    return reinterpret_cast<const T*>(to);
  }

  PinnedArray<char> here_;
  DeviceArray<char> there_;
  Index used_ = 0;
};

// Rows are padded with zeros to whole tiles, so that no loop over rows has to look for the end.
inline constexpr Index kRowTile = 64;
inline constexpr Index padded(Index rows) { return (rows + kRowTile - 1) / kRowTile * kRowTile; }

}  // namespace mfga::cuda
