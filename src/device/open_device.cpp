#include "device/open_device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <mutex>
#include <string_view>

#include "mfga/error.hpp"
#include "mfga/version.hpp"

namespace mfga {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libmfga_cuda.so";

struct Plugin {
  const DevicePlugin* functions = nullptr;
  std::string why_none;
};

// The folder of the library that this is a part of, the one that a link to it leads to, and that of the
// program.
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code failed;
  Dl_info info{};
  // The name of a program is what was typed to start it, which says nothing about where it is.
  if (dladdr(reinterpret_cast<const void*>(&own_folders), &info) != 0 && info.dli_fname != nullptr &&
      fs::path(info.dli_fname).is_absolute()) {
    folders.push_back(fs::path(info.dli_fname).parent_path());
    const fs::path real = fs::canonical(info.dli_fname, failed);
    if (!failed) folders.push_back(real.parent_path());
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) folders.push_back(program.parent_path());
  return folders;
}

Plugin load_plugin() {
  // Beside this program, in the library folder of an installation, or where the system looks.
  std::vector<std::string> places;
  for (const fs::path& folder : own_folders()) {
    places.push_back((folder / kLibrary).string());
    places.push_back((folder / MFGA_LIBRARY_FOLDER / kLibrary).string());
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
      plugin.why_none = fmt::format(
          "there is no {} beside this program ({}); build it where the CUDA toolkit (nvcc) is found",
          kLibrary, dlerror());
    }
    return plugin;
  }
  plugin.why_none.clear();
  const auto get = reinterpret_cast<DevicePluginFunction>(dlsym(library, kDevicePluginFunction));
  const DevicePlugin* functions = get == nullptr ? nullptr : get();
  if (functions == nullptr || functions->interface != kDeviceInterface ||
      std::string_view(functions->version) != version()) {
    plugin.why_none = fmt::format("{} is of another version; build it together with this program", kLibrary);
    return plugin;
  }
  plugin.functions = functions;
  return plugin;
}

const Plugin& plugin() {
  static const Plugin loaded = load_plugin();
  return loaded;
}

}  // namespace

DeviceList list_devices() {
  DeviceList list;
  list.why_none = plugin().why_none;
  if (plugin().functions == nullptr) return list;
  constexpr double kMib = 0x1p20;
  for (const DeviceInfo& info : plugin().functions->list(list.why_none)) {
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
  std::string why_none = plugin().why_none;
  try {
    if (plugin().functions != nullptr) opened = plugin().functions->open(why_none);
  } catch (const DeviceError& error) {
    why_none = error.what();
  }
  if (!opened && choice == DeviceChoice::kCuda)
    throw DeviceError(fmt::format("`device=cuda` cannot be used: {}; or use `device=cpu`", why_none));
  return opened;
}

}  // namespace mfga
