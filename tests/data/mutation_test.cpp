// Files with random damage, for every reader and for the loader of models: each is read or refused with an
// Error. A crash, another exception, an endless loop or much memory is a fault of the reader.
#include <fmt/format.h>
#include <sys/resource.h>

#include <random>

#include "data/npy.hpp"
#include "data/table_fixture.hpp"
#include "mfga/model.hpp"

namespace mfga {
namespace {

class MutationTest : public TableTest {
 protected:
  [[nodiscard]] std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  // One to four changes: bytes, pieces that are missing, doubled or moved, and what is hard to read.
  [[nodiscard]] std::string mutated(std::string bytes) {
    static const std::vector<std::string> kPieces = {",",           ";",
                                                     "\t",          "\"",
                                                     "\n",          "\r\n",
                                                     "#",           ":",
                                                     " ",           "|",
                                                     "%",           "nan",
                                                     "-inf",        "1e999",
                                                     "-",           "+",
                                                     "99999999999", "9999999",
                                                     "0x1",         "1,234.5",
                                                     "\xFF",        std::string(1, '\0'),
                                                     "\"\"",        "{",
                                                     "}",           "[",
                                                     "]",           "null",
                                                     "1e-999",      ",,,",
                                                     "2024-01-31",  "(1, 99999999)"};
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(bytes.size());
      const std::size_t length = std::min(1 + below(30), bytes.size() - at);
      switch (below(6)) {
        case 0:
          if (!bytes.empty()) bytes[at] = static_cast<char>(random_());
          break;
        case 1:
          bytes.erase(at, length);
          break;
        case 2:
          bytes.insert(below(bytes.size()), bytes.substr(at, length));
          break;
        case 3:
          bytes.resize(at);
          break;
        default:
          bytes.insert(at, kPieces[below(kPieces.size())]);
      }
    }
    return bytes;
  }

  // Either reads or throws an Error.
  void expect_handled(const std::string& what, const std::function<void()>& read) {
    try {
      read();
      ++read_;
    } catch (const Error& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
      ++refused_;
    } catch (const std::exception& other) {
      ADD_FAILURE() << what << ": " << other.what();
    }
  }

  void read_mutated(const std::string& name, const std::string& whole, int count) {
    constexpr std::array<Index, 4> kChunks = {1, 7, 64, Index{1} << 20};
    for (int i = 0; i < count; ++i) {
      // As it is; compressed; and compressed first, so that the damage is in what gzip reads.
      std::string bytes = i % 3 == 2 ? mutated(compress(whole)) : mutated(whole);
      if (i % 3 == 1) bytes = compress(bytes);
      ReadOptions options;
      options.threads = 2;
      options.chunk_bytes = kChunks[below(kChunks.size())];
      const std::string file = write(bytes, "t");
      expect_handled(fmt::format("{} {}", name, i), [&] {
        const TableFile table(file, options);
        (void)table.read_for_training("", {});
        const std::vector<ColumnSource> sources = {{0, ""}, {1, "red"}};
        (void)table.read(sources, std::nullopt);
      });
    }
  }

  std::mt19937 random_{20};
  int read_ = 0;
  int refused_ = 0;
};

long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST_F(MutationTest, TablesAreReadOrRefused) {
  const long before = peak_mebibytes();
  std::string csv = "# about\n,a,colour,\"the b\",share,y\n";
  std::string tsv = "1.5\t2\tno\n";
  std::string commas = "a;when;y\n";
  std::string libsvm;
  std::vector<double> numbers;
  for (int i = 0; i < 40; ++i) {
    csv += fmt::format("{},{:.3f},{},\"{}\",{}%,{}\n", i, 0.37 * i, i % 3 == 0 ? "red" : "\"dark, blue\"",
                       7 * i % 11, i, i % 2 == 0 ? "yes" : "no");
    tsv += fmt::format("{:.4g}\t{}\t{}\n", 1e-3 * i, i * i, i % 2 == 0 ? "yes" : "no");
    commas += fmt::format("{},{};2024-01-{:02};1.{:03}\n", i, i % 10, 1 + i % 28, i);
    libsvm += fmt::format("{} 1:{} {}:{:.3f} # note\n", i % 2 == 0 ? 1 : -1, i, 3 + i % 5, 0.1 * i);
    for (int j = 0; j < 3; ++j) numbers.push_back(i + 0.1 * j);
  }
  const std::string npy = npy_header("(40, 3)") + std::string(reinterpret_cast<const char*>(numbers.data()),
                                                              numbers.size() * sizeof(double));
  read_mutated("csv", csv, 100);
  read_mutated("tsv", tsv, 70);
  read_mutated("decimal commas", commas, 70);
  read_mutated("libsvm", libsvm, 80);
  read_mutated("npy", npy, 80);
  // Damage is neither always seen nor never.
  EXPECT_GT(read_, 0);
  EXPECT_GT(refused_, 100);
  EXPECT_LT(peak_mebibytes() - before, 400);
}

TEST_F(MutationTest, ModelsAreLoadedOrRefused) {
  const long before = peak_mebibytes();
  std::ifstream file(MFGA_SOURCE_DIR "/tests/model/golden_model.json");
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(whole.empty());
  for (int i = 0; i < 200; ++i) {
    const std::string name = write(mutated(whole), "m.json");
    expect_handled(fmt::format("model {}", i), [&] {
      const Model model = load_model(name);
      const Matrix x(2, model.n_columns);
      (void)model.scores(x.view(), 1);
    });
  }
  EXPECT_GT(refused_, 50);
  EXPECT_LT(peak_mebibytes() - before, 400);
}

}  // namespace
}  // namespace mfga
