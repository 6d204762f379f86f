// NumPy's .npy. What is read are the very numbers that follow the header; the mutator writes headers.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "fuzz/table_reading.hpp"
#include "fuzz/targets.hpp"

namespace mfga::fuzz {
namespace {

// Number by number, for the copies of whole rows in the reader.
double number_at(std::string_view numbers, std::size_t place, bool is_float) {
  if (is_float) {
    float number = 0;
    std::memcpy(&number, numbers.data() + place * sizeof number, sizeof number);
    return number;
  }
  double number = 0;
  std::memcpy(&number, numbers.data() + place * sizeof number, sizeof number);
  return number;
}

void run(std::string_view bytes) {
  const unsigned how = take_byte(bytes);
  ReadOptions options;
  options.threads = 1;
  options.format = "npy";
  if (how % 4 == 1) options.missing = "error";
  if (how % 4 == 2) options.missing = "-1";
  read_in_two_ways(bytes, options, 1);
  static_cast<void>(refusal_of([&] {
    const TableFile file = TableFile::from_bytes(bytes, "t", options);
    const Index columns = std::ssize(file.columns());
    std::vector<Index> all(static_cast<std::size_t>(columns));
    for (Index column = 0; column < columns; ++column) all[static_cast<std::size_t>(column)] = column;
    const Table table = file.read(all, std::nullopt);
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);  // as editors put before any file
    const bool is_long = bytes[6] != 1;
    std::size_t length = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
    if (is_long)
      length +=
          65536U * static_cast<unsigned char>(bytes[10]) + 16777216U * static_cast<unsigned char>(bytes[11]);
    const std::size_t begin = (is_long ? 12 : 10) + length;
    const bool is_float = bytes.substr(0, begin).find("<f4") != std::string_view::npos &&
                          bytes.substr(0, begin).find("<f8") == std::string_view::npos;
    if (bytes.substr(0, begin).find("<f8") != std::string_view::npos &&
        bytes.substr(0, begin).find("<f4") != std::string_view::npos)
      return;
    for (std::size_t i = 0; i < table.values.values.size(); ++i) {
      const double stored = number_at(bytes.substr(begin), i, is_float);
      const double read = table.values.values[i];
      require(read == stored || (std::isnan(read) && (std::isnan(stored) || stored == -1)),
              "a number is read as it is stored");
    }
  }));
}

template <std::size_t kCount>
const char* one_of(const std::array<const char*, kCount>& choices, std::mt19937& random) {
  return choices[random() % kCount];
}

std::string mutate(std::string_view bytes, std::size_t longest, std::mt19937& random) {
  constexpr std::array<const char*, 10> kTypes = {"'<f8'", "'<f4'",  "'>f8'", "'<i8'",          "'|O'",
                                                  "'<f8",  "'|S99'", "<f8'",  "[('a', '<f8')]", "''"};
  constexpr std::array<const char*, 4> kOrders = {"False", "True", "false", "0"};
  constexpr std::array<const char*, 12> kSizes = {"0",  "1",          "2",
                                                  "3",  "17",         "-1",
                                                  "1L", "4294967296", "9223372036854775807",
                                                  "",   "1e3",        "99999999999999999999"};
  const auto usual = [&](const auto& choices) {
    return random() % 8 == 0 ? one_of(choices, random) : choices[random() % 2];
  };
  std::string shape = "(";
  const unsigned dimensions = random() % 8 == 0 ? random() % 4 : 2;
  for (unsigned i = 0; i < dimensions; ++i)
    shape +=
        fmt::format("{}{}", random() % 4 == 0 ? one_of(kSizes, random) : fmt::format("{}", 1 + random() % 6),
                    i + 1 < dimensions || random() % 2 == 0 ? ", " : "");
  shape += random() % 16 == 0 ? "" : ")";
  std::string header = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", usual(kTypes),
                                   random() % 8 == 0 ? one_of(kOrders, random) : "False", shape);
  if (random() % 8 == 0) header.insert(random() % header.size(), 1, static_cast<char>(random() % 256));
  header += std::string(random() % 64, ' ') + '\n';
  const bool is_long = random() % 4 == 0;
  std::size_t length = header.size();
  if (random() % 16 == 0) length = random() % 300;
  std::string result(1, bytes.empty() ? '\0' : bytes.front());
  result += "\x93NUMPY";
  result += static_cast<char>(is_long ? 2 + random() % 2 : 1);
  result += '\0';
  for (int i = 0; i < (is_long ? 4 : 2); ++i)
    result += static_cast<char>(length >> (8U * static_cast<unsigned>(i)));
  result += header;
  // The numbers of before, or others.
  if (bytes.size() > 128) result += bytes.substr(128);
  while (result.size() < longest && random() % 40 != 0) {
    const double number =
        random() % 8 == 0 ? std::nan("")
                          : std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 64) - 64);
    result.append(reinterpret_cast<const char*>(&number), sizeof number);  // NOLINT
  }
  result.resize(std::min(result.size(), longest));
  return result;
}

}  // namespace

constexpr Target kNpy = {"npy", 512, run, mutate};

}  // namespace mfga::fuzz
