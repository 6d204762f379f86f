// Accelerators that fits can use (docs/gpu.md).
#pragma once

#include <string>
#include <vector>

namespace mfga {

enum class DeviceChoice {
  kCpu,
  kCuda,  // the first GPU of NVIDIA; an error if there is none that can be used
  kAuto,  // a GPU if there is one that can be used, else the processor
};

struct DeviceDescription {
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // "sm_90"
  std::string driver;        // the version of CUDA that it knows
  double memory_mib = 0;
  double free_mib = 0;
};

struct DeviceList {
  std::vector<DeviceDescription> devices;
  std::string why_none;  // if there are none: why, and what to do
};
[[nodiscard]] DeviceList list_devices();

}  // namespace mfga
