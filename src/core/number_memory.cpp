// Memory of tables and of what is kept beside them: a fresh page costs the system more time than filling it
// with numbers does, and one large page costs far less than the 512 small ones it stands for.
#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "mfga/views.hpp"

namespace mfga {

void* allocate_numbers(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20U;
  constexpr std::size_t kVectorAlignment = 64;
  const bool is_large = bytes >= 2 * kLargePage;
  const std::size_t alignment = is_large ? kLargePage : kVectorAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded < bytes) throw std::bad_alloc();
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr && rounded > 0) throw std::bad_alloc();
  // Advice only: where it is not taken, everything works as well, and slower.
  if (is_large) ::madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void free_numbers(void* memory) noexcept { std::free(memory); }

}  // namespace mfga
