// Files of statistics, whole, damaged and hostile.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "model/statistics_samples.hpp"

namespace mfga {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mfga_statistics_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    folder_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

TEST(Statistics, SurviveAFile) {
  const NoisySample sample(500);
  const Statistics statistics =
      statistics_of(sample.data(), with_features("linear + nystrom(count=9) + step(knots=3)"));
  const TemporaryFolder folder;
  const std::string path = folder.path("s.bin");
  save_statistics(statistics, path);
  Statistics loaded = load_statistics(path);
  EXPECT_EQ(loaded.to_bytes(), statistics.to_bytes());
  EXPECT_EQ(loaded.rows(), 500);
  EXPECT_EQ(loaded.features(), statistics.features());
  EXPECT_EQ(model_to_json(loaded.fit().model), model_to_json(statistics.fit().model));
  // And can be gone on with.
  Statistics more(statistics);
  more.update(sample.x.view(), sample.y);
  loaded.update(sample.x.view(), sample.y);
  EXPECT_EQ(loaded.to_bytes(), more.to_bytes());
  loaded.merge(statistics);
  EXPECT_EQ(loaded.rows(), 1500);
}

// Small enough for every byte to be damaged.
std::string small_bytes() {
  const NoisySample sample(60);
  FitOptions options = with_features("linear");
  options.ridge = Ridge::cross_validated({.folds = 2});
  return statistics_of(sample.data(), options).to_bytes();
}

std::string with_checksum(std::string bytes) {
  bytes.resize(bytes.size() - 8);
  const std::uint64_t sum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  bytes.append(8, '\0');
  std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
  return bytes;
}

TEST(Statistics, RefuseDamagedBytes) {
  const std::string bytes = small_bytes();
  ASSERT_EQ(with_checksum(bytes), bytes);
  static_cast<void>(Statistics::from_bytes(bytes, "bytes"));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(static_cast<void>(Statistics::from_bytes(bytes.substr(0, size), "bytes")), Error) << size;
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 8)));
    EXPECT_THROW(static_cast<void>(Statistics::from_bytes(damaged, "bytes")), Error) << place;
  }
  EXPECT_THROW(static_cast<void>(Statistics::from_bytes(bytes + "x", "bytes")), Error);
}

// Whoever writes such a file on purpose knows checksums: it is an Error, or statistics that can be asked.
TEST(Statistics, RefuseHostileBytes) {
  const std::string bytes = small_bytes();
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = bytes;
    const std::size_t place = other.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    other.replace(place, from.size(), to);
    std::uint64_t header = 0;
    std::memcpy(&header, other.data() + 16, 8);
    header += to.size() - from.size();
    std::memcpy(other.data() + 16, &header, 8);
    return with_checksum(other);
  };
  const std::string counts = "\"count\":4";
  for (const std::string& other :
       {replaced(counts, "\"count\":5"), replaced(counts, "\"count\":1000000000000"),
        replaced(counts, "\"count\":-4"), replaced("\"folds\":2", "\"folds\":2000000000"),
        replaced("\"folds\":2", "\"folds\":1"), replaced("\"units\":[", "\"units\":[1e9,"),
        replaced("\"units\":[", "\"units\":[0,"), replaced("\"seed\":[0,", "\"seed\":[-1,"),
        replaced("regression", "classification"), replaced("linear", "liniar"),
        replaced("{\"model\"", "[{\"model\"")}) {
    EXPECT_THROW(static_cast<void>(Statistics::from_bytes(other, "bytes")), Error);
  }
  std::string endless = bytes;
  std::memset(endless.data() + 16, 0xff, 8);  // of the header
  EXPECT_THROW(static_cast<void>(Statistics::from_bytes(with_checksum(endless), "bytes")), Error);
  int loaded = 0;
  for (std::size_t place = 8; place + 8 < bytes.size(); ++place) {
    for (const int change : {1, 0x80, 0x7f}) {
      std::string other = bytes;
      other[place] = static_cast<char>(other[place] ^ change);
      try {
        const Statistics statistics = Statistics::from_bytes(with_checksum(other), "bytes");
        ++loaded;
        static_cast<void>(statistics.fit(some_terms(3)));
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(loaded, 0);
}

TEST(Statistics, RefuseFilesOfAnotherKind) {
  const TemporaryFolder folder;
  EXPECT_NE(
      error_of_call([&] { static_cast<void>(load_statistics(folder.path("none"))); }).find("no such file"),
      std::string::npos);
  EXPECT_NE(
      error_of_call([&] { static_cast<void>(load_statistics(folder.path(""))); }).find("is a directory"),
      std::string::npos);
  for (const std::string content : {"", "a,b\n1,2\n", "MFGASTA", "MFGASTAT"}) {
    const std::string path = folder.path("file");
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_NE(error_of_call([&] { static_cast<void>(load_statistics(path)); }).find("of statistics"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace mfga
