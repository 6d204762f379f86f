// The devices that tests run with: the one that is the processor, and a GPU if there is one.
#pragma once

#include <memory>
#include <vector>

#include "device/host_device.hpp"
#include "device/open_device.hpp"

namespace mfga {

inline std::vector<std::shared_ptr<Device>> test_devices() {
  std::vector<std::shared_ptr<Device>> devices = {std::make_shared<HostDevice>()};
  if (auto device = open_device(DeviceChoice::kAuto)) devices.push_back(std::move(device));
  return devices;
}

}  // namespace mfga
