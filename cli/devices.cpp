// mfga devices: the accelerators that fits can use here.
#include <fmt/format.h>

#include "cli/command.hpp"

namespace mfga::cli {
namespace {

void show_devices(bool as_json) {
  const DeviceList list = list_devices();
  if (as_json) {
    Json json = {{"devices", Json::array()}};
    for (const DeviceDescription& device : list.devices) {
      json["devices"].push_back({{"name", device.name},
                                 {"architecture", device.architecture},
                                 {"driver", device.driver},
                                 {"memory_mib", device.memory_mib},
                                 {"free_mib", device.free_mib}});
    }
    if (list.devices.empty()) json["why_none"] = spelled(list.why_none);
    print("{}\n", json.dump(2));
    return;
  }
  if (list.devices.empty()) {
    print("no GPU: {}\nEverything runs on the processor (--device cpu).\n", spelled(list.why_none));
    return;
  }
  for (const DeviceDescription& device : list.devices) {
    print("{} ({}), {:.0f} MiB of memory, {:.0f} MiB of them free; driver for {}\n", device.name,
          device.architecture, device.memory_mib, device.free_mib, device.driver);
  }
  print("Use the first of them with --device cuda.\n");
}

}  // namespace

void add_devices(CLI::App& tool) {
  CLI::App* const app = tool.add_subcommand("devices", "Show the GPUs that --device can use here");
  const auto as_json = std::make_shared<bool>(false);
  app->add_flag("--json", *as_json, "print JSON");
  app->callback([as_json] { show_devices(*as_json); });
}

}  // namespace mfga::cli
