// The frame of a fit that may use an accelerator.
#pragma once

#include <fmt/format.h>

#include "device/open_device.hpp"
#include "mfga/fit.hpp"

namespace mfga {

// Returns body(), for which the workers have the device of this choice. Where it fails on the way and the
// choice was left open, body() again without one, and a warning that says so.
template <class Body>
FitResult with_device(DeviceChoice choice, Workers& workers, Body body) {
  const std::shared_ptr<Device> device = open_device(choice);
  workers.set_device(device.get());
  // What others on the same machine may need.
  const struct Trim {
    Device* device;
    ~Trim() {
      if (device != nullptr) device->trim();
    }
  } trim{device.get()};
  try {
    return body();
  } catch (const DeviceError& error) {
    if (choice != DeviceChoice::kAuto) throw;
    workers.set_device(nullptr);
    FitResult result = body();
    result.report.warnings.push_back(fmt::format("the processor was used: {}", error.what()));
    return result;
  }
}

}  // namespace mfga
