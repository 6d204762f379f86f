// Finds and opens the accelerators of this machine. The code for them is a shared library beside the tool or
// the library, which is loaded when it is first asked for: the same program runs without it, without a driver
// and without a device.
#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"
#include "mfga/devices.hpp"

namespace mfga {

// The device of this choice. Null for the processor, and for kAuto if no device can be used; where one was
// asked for by name and cannot be used, throws Error(kSystem) that says why. Opened once per process and
// shared.
[[nodiscard]] std::shared_ptr<Device> open_device(DeviceChoice choice);

}  // namespace mfga
