// Which instructions Highway has chosen is known to what is compiled for each of them.
#include "core/arithmetic.hpp"

// The order of these matters; the file includes itself, once per instruction set.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/arithmetic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mfga::HWY_NAMESPACE {

const char* vector_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace mfga::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cblas.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "mfga/version.hpp"

namespace mfga {
namespace {

HWY_EXPORT(vector_target);

// Of those that MFGA_VECTORISED chooses from.
const char* instruction_set() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if (__builtin_cpu_supports("x86-64-v4") != 0) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3") != 0) return "x86-64-v3";
#endif
  return "default";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> arithmetic_here() {
  // Found once: OpenBLAS writes what it tells into one place, whoever asks.
  static const std::vector<std::pair<std::string, std::string>> found = [] {
    std::vector<std::pair<std::string, std::string>> parts = {
        {"the version of mfga", std::string(version())},
        {"the vector instructions of the processor", HWY_DYNAMIC_DISPATCH(vector_target)()},
        {"the level of the processor", instruction_set()},
        {"the kernels of OpenBLAS", openblas_get_corename()},
        {"the build of OpenBLAS", openblas_get_config()}};
#ifdef __GLIBC__
    parts.emplace_back("the C library", gnu_get_libc_version());
#endif
    return parts;
  }();
  return found;
}

}  // namespace mfga
#endif
