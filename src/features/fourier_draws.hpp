// Frequencies and phases of Fourier features: which distribution (the kernel) and how it is sampled (the
// draw).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/row_blocks.hpp"
#include "features/family.hpp"
#include "features/kernel.hpp"

namespace mfga {

enum class FourierDraw { kIndependent, kOrthogonal, kStructured, kHalton, kSobol };

inline constexpr std::array<Kernel::Name, 4> kFourierKernels = {
    Kernel::Name::kGaussian, Kernel::Name::kLaplace, Kernel::Name::kMatern, Kernel::Name::kCauchy};

inline constexpr FamilyOption kFourierDrawOption = {
    "draw", "iid|orthogonal|structured|halton|sobol", "iid",
    "how frequencies are drawn; orthogonal: as many at right angles as there are inputs; structured: nearly "
    "so, by fast Hadamard transforms; halton, sobol: from quasi-random points"};
[[nodiscard]] FourierDraw parse_fourier_draw(std::string_view text);
// Throws if the kernel's frequencies cannot be drawn in this way.
void check_fourier_draw(const Kernel& kernel, FourierDraw draw);

// Frequencies in groups of size() whose projections are computed together: p^-1 H D1 H D2 H D3 x for inputs
// padded to p, with the Hadamard matrix H and diagonal matrices D of random signs (Yu et al. 2016).
class SignedHadamard {
 public:
  SignedHadamard(Index n_inputs, Index groups, std::uint64_t seed);

  // The p for this many inputs. Frequencies for one or two inputs alone would be far from normal.
  [[nodiscard]] static Index padded(Index n_inputs) {
    constexpr Index kFewest = 64;
    Index size = kFewest;
    while (size < n_inputs) size *= 2;
    return size;
  }
  [[nodiscard]] Index size() const { return size_; }  // p
  // out[i * out_stride + n] = projection i of the group on row n, i < count.
  template <class T>
  void project(const T* inputs, Index stride, Index rows, Index group, Index count, T* out, Index out_stride,
               Arena& arena) const;

 private:
  Index n_inputs_;
  Index size_;
  std::vector<std::int8_t> signs_;  // [groups x 3 x p]
};

struct FourierDirections {
  Matrix frequencies;  // [count x inputs]
  std::vector<double> phases;
  // If the frequencies are structured: frequency i is that of `structure`, divided by divisors[i].
  std::optional<SignedHadamard> structure;
  std::vector<double> divisors;
};

// Feature i is a function of (seed, i) alone, so a shorter list is the front of a longer.
[[nodiscard]] FourierDirections draw_fourier_directions(const Kernel& kernel, FourierDraw draw, Index count,
                                                        Index n_inputs, std::uint64_t seed);

}  // namespace mfga
