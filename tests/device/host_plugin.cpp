// A library as the tool loads it for GPUs, whose device is the processor. MFGA_DEVICE_TABLES: it fails at so
// many tables of rows and more, counted from 0.
#include <cstdlib>

#include "device/host_device.hpp"

namespace mfga {
namespace {

class FailingDevice final : public Device {
 public:
  [[nodiscard]] DeviceInfo info() const override { return host_.info(); }
  [[nodiscard]] double fewest_values() const override { return 10'000; }
  [[nodiscard]] double free_bytes() const override { return host_.free_bytes(); }
  [[nodiscard]] std::unique_ptr<DeviceRows> make_rows(Index rows, Index inputs) override {
    const char* most = std::getenv("MFGA_DEVICE_TABLES");
    if (most != nullptr && tables_++ >= std::atoi(most)) throw DeviceError("the device is out of order");
    return host_.make_rows(rows, inputs);
  }

 private:
  HostDevice host_;
  int tables_ = 0;
};

std::vector<DeviceInfo> list(std::string& /*why_none*/) { return {FailingDevice().info()}; }
std::unique_ptr<Device> open(std::string& /*why_none*/) { return std::make_unique<FailingDevice>(); }

}  // namespace
}  // namespace mfga

extern "C" __attribute__((visibility("default"))) const mfga::DevicePlugin* mfga_device_plugin() {
  static const mfga::DevicePlugin plugin{mfga::kDeviceInterface, MFGA_VERSION, mfga::list, mfga::open};
  return &plugin;
}
