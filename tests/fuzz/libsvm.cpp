// LIBSVM. The first two bytes choose how it is read.
#include "fuzz/table_reading.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

void run(std::string_view bytes) {
  const unsigned chunk = take_byte(bytes);
  const unsigned how = take_byte(bytes);
  ReadOptions options;
  options.threads = 1;
  options.format = how % 2 == 0 ? "libsvm" : "auto";
  // An index decides how wide the table is: with a number of features it cannot be any.
  options.n_features = how / 2 % 4 == 0 ? 0 : how / 2;
  read_in_two_ways(bytes, options, 1 + chunk);
}

}  // namespace

constexpr Target kLibsvm = {"libsvm", 256, run};

}  // namespace mfga::fuzz
