// Many fits in one process, one after the other and at once: memory stays flat, and all models are the same.
// With MFGA_LOAD=1000 a thousand of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "mfga/fit.hpp"
#include "reference.hpp"

namespace mfga {
namespace {

// Which keep memory that was given back.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

double resident_mebibytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0;
  double resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20U);
}

class LoadTest : public testing::Test {
 protected:
  LoadTest() {
    for (Index i = 0; i < x_.rows; ++i) y_.push_back(x_(i, 0) * x_(i, 1) + x_(i, 2));
  }
  // Fits with tuning and choices by held-out rows, as by default, but small.
  [[nodiscard]] std::string model(int threads) const {
    FitOptions options;
    options.terms = 4;
    options.features = "linear + gaussian(order=2)";
    options.threads = threads;
    Model learned = fit({.x = x_.view(), .y = y_}, options).model;
    return model_to_json(learned);
  }

  int models_ = std::getenv("MFGA_LOAD") != nullptr ? std::atoi(std::getenv("MFGA_LOAD"))  // NOLINT
                : kIsSanitized                      ? 5
                                                    : 40;

 private:
  Matrix x_ = reference::random_matrix(300, 4, 11);
  std::vector<double> y_;
};

TEST_F(LoadTest, ModelsOneAfterTheOtherTakeNoMoreMemory) {
  const std::string first = model(2);
  double early = 0;
  for (int i = 0; i < models_; ++i) {
    ASSERT_EQ(model(2), first) << i;
    if (i == models_ / 2) early = resident_mebibytes();
  }
  // A leak of a model's rows would be 10 kB of each.
  if (!kIsSanitized) {
    EXPECT_LT(resident_mebibytes() - early, 4 + 0.005 * models_);
  }
}

TEST_F(LoadTest, ModelsAtOnceAreTheSame) {
  constexpr int kAtOnce = kIsSanitized ? 16 : 64;
  const std::string first = model(1);
  std::vector<std::string> models(kAtOnce);
  std::vector<std::thread> threads;
  threads.reserve(kAtOnce);
  for (int i = 0; i < kAtOnce; ++i)
    threads.emplace_back([&, i] { models[static_cast<std::size_t>(i)] = model(1 + i % 3); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& other : models) EXPECT_EQ(other, first);
}

}  // namespace
}  // namespace mfga
