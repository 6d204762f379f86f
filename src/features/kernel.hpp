// The kernels of the fourier, landmark and nystrom families, by name.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace mfga {

struct Kernel {
  // Model files have these as texts, atoms as positions in kKernelNames.
  enum class Name { kGaussian, kLaplace, kMatern, kPolynomial, kCauchy };
  Name name = Name::kGaussian;
  double parameter = 0;  // nu of matern, degree of polynomial, else 0
  double sigma = 1;
};

inline constexpr std::array<std::string_view, 5> kKernelNames = {"gaussian", "laplace", "matern",
                                                                 "polynomial", "cauchy"};

// Reads `gaussian`, `matern(1.5)`, ...; one that is not among the possible ones is an error.
[[nodiscard]] Kernel parse_kernel(std::string_view text, std::span<const Kernel::Name> possible);
// As it is written in a dictionary.
[[nodiscard]] std::string kernel_text(const Kernel& kernel);

}  // namespace mfga
