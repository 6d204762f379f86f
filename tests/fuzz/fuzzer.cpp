// One target as a program of libFuzzer: MFGA_FUZZ_TARGET is its name in targets.hpp.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/targets.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t longest);

namespace {

const mfga::fuzz::Target& target = mfga::fuzz::MFGA_FUZZ_TARGET;

}  // namespace

// The longest input is the target's to say.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  static std::string longest = "-max_len=" + std::to_string(target.longest);
  static std::vector<char*> all(*arguments, *arguments + *count);
  all.push_back(longest.data());
  *count = static_cast<int>(all.size());
  all.push_back(nullptr);
  *arguments = all.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A finding ends the program by an exception that nobody catches, as AddressSanitizer and the rest do.
  target.run({reinterpret_cast<const char*>(data), size});  // NOLINT
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t longest,
                                               unsigned seed) {
  // To set up the generator takes longer than most targets.
  if (target.mutate != nullptr && seed % 2 == 0) {
    std::mt19937 random(seed / 2);
    const std::string result =
        target.mutate({reinterpret_cast<const char*>(data), size}, longest, random);  // NOLINT
    if (!result.empty()) {
      std::memcpy(data, result.data(), result.size());
      return result.size();
    }
  }
  return LLVMFuzzerMutate(data, size, longest);
}
