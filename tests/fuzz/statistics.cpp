// Files of statistics: what loads is saved as the same bytes, can be merged with itself, and fitted. The
// mutator changes the header, which is JSON, and the sums, and says their sizes as the format does.
#include <cmath>

#include "fuzz/json_mutation.hpp"
#include "fuzz/sealed.hpp"
#include "fuzz/targets.hpp"
#include "mfga/statistics.hpp"

namespace mfga::fuzz {
namespace {

constexpr SealedFormat kFormat = {"MFGASTAT", 1, "file of statistics"};

void run(std::string_view bytes) {
  const std::string file = sealed_or_not(kFormat, bytes);
  static_cast<void>(refusal_of([&] {
    Statistics statistics = Statistics::from_bytes(file, "s");
    const std::string saved = statistics.to_bytes();
    require_same(saved, Statistics::from_bytes(saved, "s").to_bytes(), "what was saved is saved the same");
    FitOptions options;
    options.terms = 2;
    options.ridge = 0.5;
    options.threads = 1;
    static_cast<void>(refusal_of([&] {
      const FitResult result = statistics.fit(options);
      for (const Term& term : result.model.terms)
        require(std::isfinite(term.coefficients.front()), "coefficients are finite");
    }));
    static_cast<void>(refusal_of([&] {
      const Index rows = statistics.rows();
      statistics.merge(Statistics::from_bytes(file, "s"));
      require(statistics.rows() == 2 * rows, "merged statistics have the rows of both");
    }));
  }));
}

std::string mutate(std::string_view bytes, std::size_t longest, std::mt19937& random) {
  const auto how = static_cast<char>(take_byte(bytes));
  if (bytes.size() < sizeof(std::uint64_t)) return {};
  const std::uint64_t length = number_at(bytes, 0);
  bytes.remove_prefix(sizeof(std::uint64_t));
  if (length > bytes.size()) return {};
  std::string header(bytes.substr(0, length));
  std::string sums(bytes.substr(length));
  if (random() % 3 != 0) header = mutated_json(header, random);
  if (random() % 3 == 0 && !sums.empty())
    sums[random() % sums.size()] ^= static_cast<char>(1U << random() % 8);
  if (random() % 8 == 0) sums.resize(random() % (2 * sums.size() + 1));
  const std::string result = how + bytes_of(header.size()) + header + sums;
  return result.size() <= longest ? result : std::string();
}

}  // namespace

constexpr Target kStatistics = {"statistics", 4096, run, mutate};

}  // namespace mfga::fuzz
