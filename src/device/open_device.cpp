#include "device/open_device.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <string_view>

#include "mfga/error.hpp"

namespace mfga {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libmfga_cuda.so";

struct Plugin {
  const DevicePlugin* functions = nullptr;
  std::string why_none;
};

// The folder of the tool, or of the library that this is a part of, and the one that a link to it leads to.
std::vector<fs::path> own_folders() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folders), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failed;
  // The name of a program is as it was typed.
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  std::vector<fs::path> folders;
  const fs::path name = info.dli_fname;
  if (name.is_absolute()) folders.push_back(name.parent_path());
  const fs::path real = fs::canonical(name, failed);
  if (!failed) folders.push_back(real.parent_path());
  if (!program.empty()) folders.push_back(program.parent_path());
  return folders;
}

Plugin load_plugin() {
  // Beside this program, in the library folder of an installation, or where the system looks.
  std::vector<std::string> places;
  for (const fs::path& folder : own_folders()) {
    places.push_back((folder / kLibrary).string());
    places.push_back((folder / "../lib" / kLibrary).string());
  }
  Plugin plugin;
  void* library = nullptr;
  for (const std::string& place : places) {
    std::error_code failed;
    if (!fs::exists(place, failed)) continue;
    library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    plugin.why_none = dlerror();
  }
  if (library == nullptr) library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    if (plugin.why_none.empty()) {
      plugin.why_none = std::string("there is no ") + kLibrary +
                        " beside this program; build it where the CUDA toolkit (nvcc) is found";
    }
    return plugin;
  }
  const auto get = reinterpret_cast<DevicePluginFunction>(dlsym(library, kDevicePluginFunction));
  const DevicePlugin* functions = get == nullptr ? nullptr : get();
  if (functions == nullptr || std::string_view(functions->version) != kDeviceInterface) {
    plugin.why_none = std::string(kLibrary) + " is of another version; build it together with this program";
    return plugin;
  }
  plugin.functions = functions;
  return plugin;
}

const Plugin& plugin() {
  static const Plugin loaded = load_plugin();
  return loaded;
}

std::vector<DeviceInfo> usable_devices(std::string& why_none) {
  why_none = plugin().why_none;
  return plugin().functions == nullptr ? std::vector<DeviceInfo>() : plugin().functions->list(why_none);
}

}  // namespace

DeviceList list_devices() {
  DeviceList list;
  constexpr double kMib = 0x1p20;
  for (const DeviceInfo& info : usable_devices(list.why_none)) {
    list.devices.push_back(
        {info.name, info.architecture, info.driver, info.bytes / kMib, info.free_bytes / kMib});
  }
  return list;
}

std::shared_ptr<Device> open_device(DeviceChoice choice) {
  static std::mutex mutex;
  static std::shared_ptr<Device> opened;
  if (choice == DeviceChoice::kCpu) return nullptr;
  const std::lock_guard lock(mutex);
  if (opened) return opened;
  try {
    std::string why_none;
    if (usable_devices(why_none).empty())
      throw DeviceError("`device=cuda` cannot be used: " + why_none + "; or use `device=cpu`");
    opened = plugin().functions->open(0);
  } catch (const DeviceError&) {
    if (choice == DeviceChoice::kCuda) throw;
  }
  return opened;
}

}  // namespace mfga
