#include "features/fourier_draws.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/random.hpp"
#include "core/row_kernels.hpp"
#include "core/typed_arena.hpp"
#include "mfga/error.hpp"

namespace mfga {
namespace {

constexpr std::array<std::string_view, 5> kDrawNames = {"iid", "orthogonal", "structured", "halton", "sobol"};

// Numbers in (0, 1): one for the phase, one for the radius and one for each input of a feature.
class UniformPoints {
 public:
  virtual ~UniformPoints() = default;
  [[nodiscard]] virtual double phase(Index feature) const = 0;
  [[nodiscard]] virtual double radius(Index feature) const = 0;
  [[nodiscard]] virtual double input(Index feature, Index input) const = 0;
  // A standard normal number for an input.
  [[nodiscard]] virtual double normal(Index feature, Index input_position) const {
    return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * input(feature, input_position));
  }
};

class IndependentPoints final : public UniformPoints {
 public:
  explicit IndependentPoints(std::uint64_t seed) : random_(seed, RandomStream::kFourier) {}

  [[nodiscard]] double phase(Index feature) const override {
    return random_.uniform_pair(first(feature)).first;
  }
  [[nodiscard]] double radius(Index feature) const override {
    return random_.uniform_pair(first(feature)).second;
  }
  [[nodiscard]] double input(Index feature, Index input) const override {
    return random_.uniform(first(feature) + 1 + static_cast<std::uint64_t>(input));
  }
  [[nodiscard]] double normal(Index feature, Index input) const override {
    return random_.normal(first(feature) + 1 + static_cast<std::uint64_t>(input));
  }

 private:
  // Room for 16 million inputs per feature.
  static std::uint64_t first(Index feature) { return static_cast<std::uint64_t>(feature) << 24U; }

  CounterRandom random_;
};

// Coordinates of quasi-random points: the phase, the inputs, and last the radius, which not every kernel has.
class QuasiRandomPoints : public UniformPoints {
 public:
  explicit QuasiRandomPoints(Index n_inputs) : n_inputs_(n_inputs) {}

  [[nodiscard]] double phase(Index feature) const final { return coordinate(feature, 0); }
  [[nodiscard]] double input(Index feature, Index input) const final {
    return coordinate(feature, 1 + input);
  }
  [[nodiscard]] double radius(Index feature) const final { return coordinate(feature, 1 + n_inputs_); }

 protected:
  [[nodiscard]] virtual double coordinate(Index point, Index dimension) const = 0;

 private:
  Index n_inputs_;
};

std::vector<Index> first_primes(Index count) {
  std::vector<Index> primes;
  for (Index candidate = 2; static_cast<Index>(primes.size()) < count; ++candidate) {
    const bool composite = std::any_of(primes.begin(), primes.end(), [&](Index prime) {
      return prime * prime <= candidate && candidate % prime == 0;
    });
    if (!composite) primes.push_back(candidate);
  }
  return primes;
}

// The digits of the point's number in the base of a prime, mirrored at the point. Without scrambling, the
// coordinates of neighbouring large primes would be nearly the same; so a digit is multiplied by a random
// number and shifted by another, modulo the prime, for each prime and place.
class HaltonPoints final : public QuasiRandomPoints {
 public:
  HaltonPoints(Index n_inputs, std::uint64_t seed)
      : QuasiRandomPoints(n_inputs), primes_(first_primes(n_inputs + 2)) {
    const CounterRandom random(seed, RandomStream::kFourierDigits);
    for (const Index prime : primes_) {
      offsets_.push_back(scrambles_.size());
      const auto places = static_cast<Index>(std::ceil(kBits / std::log2(static_cast<double>(prime))));
      for (Index place = 0; place < places; ++place) {
        const auto [u, v] = random.uniform_pair(scrambles_.size());
        scrambles_.push_back({1 + static_cast<Index>(u * static_cast<double>(prime - 1)),
                              static_cast<Index>(v * static_cast<double>(prime))});
      }
    }
    offsets_.push_back(scrambles_.size());
  }

 private:
  static constexpr double kBits = 24;  // enough for as many features as there may be
  struct Scramble {
    Index factor;
    Index shift;
  };

  [[nodiscard]] double coordinate(Index point, Index dimension) const override {
    const auto d = static_cast<std::size_t>(dimension);
    const Index prime = primes_[d];
    double unit = 1;
    double value = 0;
    for (std::size_t place = offsets_[d]; place < offsets_[d + 1]; ++place, point /= prime) {
      const auto [factor, shift] = scrambles_[place];
      unit /= static_cast<double>(prime);
      value += unit * static_cast<double>((point % prime * factor + shift) % prime);
    }
    return value + unit / 2;  // the middle of what more digits would tell apart
  }

  std::vector<Index> primes_;
  std::vector<std::size_t> offsets_;  // first scramble of each prime, and the total
  std::vector<Scramble> scrambles_;
};

// All coordinates exchange halves, quarters, ... by random bits (a digital shift): this keeps how evenly the
// points lie, and gives every seed points of its own.
class SobolPoints final : public QuasiRandomPoints {
 public:
  SobolPoints(Index n_inputs, Index count, std::uint64_t seed)
      : QuasiRandomPoints(n_inputs), dimensions_(n_inputs + 2) {
    constexpr Index kMostDimensions = boost::random::default_sobol_table::max_dimension;
    if (dimensions_ > kMostDimensions) {
      throw Error(ErrorKind::kInvalidArgument,
                  fmt::format("`features`: fourier(draw=sobol) is for at most {} inputs, here are {}; use "
                              "draw=halton or draw=orthogonal",
                              kMostDimensions - 2, n_inputs));
    }
    const CounterRandom random(seed, RandomStream::kFourierDigits);
    boost::random::sobol engine(static_cast<std::size_t>(dimensions_));
    values_.resize(static_cast<std::size_t>(count * dimensions_));
    for (Index i = 0; i < count; ++i) {
      for (Index k = 0; k < dimensions_; ++k) {
        const auto shift = static_cast<std::uint64_t>(random.uniform(static_cast<std::uint64_t>(k)) * 0x1p53);
        const std::uint64_t bits = (engine() >> 11U) ^ shift;
        values_[static_cast<std::size_t>(i * dimensions_ + k)] = (static_cast<double>(bits) + 0.5) * 0x1p-53;
      }
    }
  }

 private:
  [[nodiscard]] double coordinate(Index point, Index dimension) const override {
    return values_[static_cast<std::size_t>(point * dimensions_ + dimension)];
  }

  Index dimensions_;
  std::vector<double> values_;
};

// An entry of a frequency at sigma = 1, before the radius: from the characteristic function of each kernel.
double frequency_entry(const UniformPoints& points, Kernel::Name kernel, Index feature, Index input) {
  switch (kernel) {
    case Kernel::Name::kLaplace:  // Cauchy distribution
      return std::tan(std::numbers::pi * (points.input(feature, input) - 0.5));
    case Kernel::Name::kCauchy: {  // Laplace distribution
      const double u = points.input(feature, input);
      return u < 0.5 ? std::log(2 * u) : -std::log(2 * (1 - u));
    }
    default:
      return points.normal(feature, input);
  }
}

// What a frequency is divided by: that of a Matern kernel is a normal vector over the root of an
// independent chi-square number with 2 nu degrees of freedom, divided by 2 nu.
double divisor(const UniformPoints& points, const Kernel& kernel, Index feature) {
  if (kernel.name != Kernel::Name::kMatern) return kernel.sigma;
  const double freedom = 2 * kernel.parameter;
  const boost::math::chi_squared_distribution<double> distribution(freedom);
  return std::sqrt(quantile(distribution, points.radius(feature)) / freedom) * kernel.sigma;
}

// Replaces the directions of blocks of normal vectors by orthogonal ones and keeps the lengths, which are
// independent of them. Row by row as Gram and Schmidt would.
void orthogonalise(Matrix& vectors) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (Index first = 0; first < vectors.rows; first += vectors.cols) {
    const Index count = std::min(vectors.cols, vectors.rows - first);
    Eigen::Map<RowMajor> block(vectors.row(first), count, vectors.cols);
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(block.transpose());
    Eigen::MatrixXd q = Eigen::MatrixXd::Identity(vectors.cols, count);
    q.applyOnTheLeft(qr.householderQ());
    for (Index i = 0; i < count; ++i) {
      const double sign = qr.matrixQR()(i, i) < 0 ? -1 : 1;
      block.row(i) = sign * block.row(i).norm() * q.col(i).transpose();
    }
  }
}

std::unique_ptr<UniformPoints> make_points(FourierDraw draw, Index count, Index n_inputs,
                                           std::uint64_t seed) {
  if (draw == FourierDraw::kHalton) return std::make_unique<HaltonPoints>(n_inputs, seed);
  if (draw == FourierDraw::kSobol) return std::make_unique<SobolPoints>(n_inputs, count, seed);
  return std::make_unique<IndependentPoints>(seed);
}

// The frequencies of a structure, at scale 1: its projections of the unit vectors.
Matrix structured_frequencies(const SignedHadamard& structure, Index count, Index n_inputs) {
  Matrix unit(n_inputs, n_inputs);
  for (Index j = 0; j < n_inputs; ++j) unit(j, j) = 1;
  Matrix frequencies(count, n_inputs);
  Arena arena;
  for (Index first = 0; first < count; first += structure.size()) {
    structure.project(unit.values.data(), n_inputs, n_inputs, first / structure.size(),
                      std::min(structure.size(), count - first), frequencies.row(first), n_inputs, arena);
  }
  return frequencies;
}

}  // namespace

FourierDraw parse_fourier_draw(std::string_view text) {
  return static_cast<FourierDraw>(parse_choice(kFourierDrawOption.name, text, kDrawNames));
}

void check_fourier_draw(const Kernel& kernel, FourierDraw draw) {
  const bool needs_rotations = draw == FourierDraw::kOrthogonal || draw == FourierDraw::kStructured;
  const bool isotropic = kernel.name == Kernel::Name::kGaussian || kernel.name == Kernel::Name::kMatern;
  if (needs_rotations && !isotropic) {
    throw Error(
        ErrorKind::kInvalidArgument,
        fmt::format("`features`: fourier(kernel={}, draw={}) is not possible: its frequencies are not "
                    "equally likely in all directions, so they cannot be drawn at right angles; use "
                    "iid, halton or sobol, or kernel=gaussian or matern(NU)",
                    kernel_text(kernel), kDrawNames[static_cast<std::size_t>(draw)]));
  }
}

SignedHadamard::SignedHadamard(Index n_inputs, Index groups, std::uint64_t seed)
    : n_inputs_(n_inputs), size_(padded(n_inputs)) {
  const CounterRandom random(seed, RandomStream::kFourierSigns);
  signs_.resize(static_cast<std::size_t>(groups * 3 * size_));
  for (std::size_t i = 0; i < signs_.size(); ++i)
    signs_[i] = random.uniform(static_cast<std::uint64_t>(i)) < 0.5 ? -1 : 1;
}

template <class T>
void SignedHadamard::project(const T* inputs, Index stride, Index rows, Index group, Index count, T* out,
                             Index out_stride, Arena& arena) const {
  constexpr Index kRows = 64;  // at a time: they stay in the cache through all three transforms
  const Arena::Scope scope(arena);
  T* work = take(arena, size_ * kRows, inputs);
  const std::int8_t* signs = signs_.data() + group * 3 * size_;
  for (Index first = 0; first < rows; first += kRows) {
    const Index width = std::min(kRows, rows - first);
    for (Index j = 0; j < size_; ++j) {
      T* row = work + j * width;
      if (j >= n_inputs_) {
        std::fill_n(row, width, T{0});
        continue;
      }
      const T sign = static_cast<T>(signs[j]) / static_cast<T>(size_);
      const T* input = inputs + j * stride + first;
      for (Index n = 0; n < width; ++n) row[n] = sign * input[n];
    }
    hadamard_transform(work, size_, width);
    for (Index diagonal = 1; diagonal < 3; ++diagonal) {
      for (Index j = 0; j < size_; ++j) {
        if (signs[diagonal * size_ + j] > 0) continue;
        T* row = work + j * width;
        for (Index n = 0; n < width; ++n) row[n] = -row[n];
      }
      hadamard_transform(work, size_, width);
    }
    for (Index i = 0; i < count; ++i) std::copy_n(work + i * width, width, out + i * out_stride + first);
  }
}

template void SignedHadamard::project(const double*, Index, Index, Index, Index, double*, Index,
                                      Arena&) const;
template void SignedHadamard::project(const float*, Index, Index, Index, Index, float*, Index, Arena&) const;

FourierDirections draw_fourier_directions(const Kernel& kernel, FourierDraw draw, Index count, Index n_inputs,
                                          std::uint64_t seed) {
  const auto points = make_points(draw, count, n_inputs, seed);
  FourierDirections directions;
  for (Index i = 0; i < count; ++i) {
    directions.phases.push_back(2 * std::numbers::pi * points->phase(i));
    directions.divisors.push_back(divisor(*points, kernel, i));
  }
  if (draw == FourierDraw::kStructured) {
    const Index size = SignedHadamard::padded(n_inputs);
    directions.structure.emplace(n_inputs, (count + size - 1) / size, seed);
    directions.frequencies = structured_frequencies(*directions.structure, count, n_inputs);
  } else {
    directions.frequencies = Matrix(count, n_inputs);
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < n_inputs; ++j)
        directions.frequencies(i, j) = frequency_entry(*points, kernel.name, i, j);
    }
  }
  if (draw == FourierDraw::kOrthogonal) orthogonalise(directions.frequencies);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < n_inputs; ++j)
      directions.frequencies(i, j) /= directions.divisors[static_cast<std::size_t>(i)];
  }
  return directions;
}

}  // namespace mfga
