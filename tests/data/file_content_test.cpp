#include "data/file_content.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <thread>

#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using FileContentTest = TableTest;

TEST_F(FileContentTest, GivesTheBytesOfAFile) {
  const std::string with_zero("a\0b", 3);
  EXPECT_EQ(FileContent(write(with_zero)).bytes(), with_zero);
  EXPECT_EQ(FileContent(write("")).bytes(), "");
}

TEST_F(FileContentTest, ReadsAPipe) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string content(3'000'000, 'x');
  std::thread writer([&] { std::ofstream(pipe) << content; });
  const FileContent file(pipe);
  writer.join();
  EXPECT_EQ(file.bytes(), content);
}

TEST_F(FileContentTest, InflatesGzipOfAnySize) {
  for (const std::size_t size : {0U, 1U, 1000U, 65535U, 65536U, 3'000'000U}) {
    std::string content(size, 'a');
    for (std::size_t i = 0; i < size; i += 7) content[i] = static_cast<char>('a' + i % 23);
    EXPECT_EQ(FileContent(write(compress(content))).bytes(), content);
  }
}

TEST_F(FileContentTest, InflatesSeveralMembersAndIgnoresPadding) {
  const std::string members = compress(std::string(100'000, 'a')) + compress("") + compress("b");
  EXPECT_EQ(FileContent(write(members)).bytes(), std::string(100'000, 'a') + "b");
  EXPECT_EQ(FileContent(write(members + std::string(512, '\0'))).bytes(), std::string(100'000, 'a') + "b");
}

TEST_F(FileContentTest, GzipThatExpandsAsNoTableDoesIsRefused) {
  // 33 MB of one letter, some ten times: the same as one member of 330 MB.
  const std::string member = compress(std::string(33'000'000, '\n'));
  std::string small;
  for (int i = 0; i < 3; ++i) small += member;
  EXPECT_EQ(FileContent(write(small)).bytes().size(), 99'000'000U);
  std::string bomb;
  for (int i = 0; i < 10; ++i) bomb += member;
  expect_message(error_of(ErrorKind::kBadData, [&] { const FileContent content(write(bomb, "t.gz")); }),
                 {"t.gz: ", "expands to more than", "200 times", "decompress"});
}

TEST_F(FileContentTest, GzipThatHoldsMoreThanItSaysGoesToTheDisk) {
  std::string content;
  for (int i = 0; i < 1'000'000; ++i) content += std::to_string(i % 10007) + ",";
  // The size at the end of such a file is that of its last member.
  const std::string file = write(compress(content) + compress("b"), "t.gz");
  for (const std::size_t most : {content.size() / 4, content.size(), 4 * content.size(), 5 * content.size()})
    EXPECT_EQ(FileContent(file, most, path("")).bytes(), content + "b");
  std::string bomb;
  for (int i = 0; i < 10; ++i) bomb += compress(std::string(33'000'000, '\n'));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const long before = usage.ru_maxrss;
  expect_message(
      error_of(ErrorKind::kBadData, [&] { const FileContent all(write(bomb, "t.gz"), 1'000'000, path("")); }),
      {"t.gz: ", "expands to more than"});
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss - before, 64 * 1024);
}

TEST_F(FileContentTest, DamagedGzipIsAnError) {
  std::string content;
  for (int i = 0; i < 5000; ++i) content += std::to_string(i * 7919 % 10007) + ",";
  const std::string whole = compress(content);
  for (const std::size_t size :
       {std::size_t{2}, std::size_t{9}, whole.size() / 2, whole.size() - 8, whole.size() - 1}) {
    expect_message(read_error(write(whole.substr(0, size), "t.gz"), ErrorKind::kBadData),
                   {"t.gz: ", "gzip", "truncated"});
  }
  expect_message(read_error(write((whole + whole).substr(0, whole.size() + 30)), ErrorKind::kBadData),
                 {"truncated"});
  std::string changed = whole;
  changed[whole.size() - 6] = static_cast<char>(changed[whole.size() - 6] ^ 1);  // in the checksum
  expect_message(read_error(write(changed), ErrorKind::kBadData), {"gzip", "corrupt"});
  expect_message(read_error(write(whole + "more"), ErrorKind::kBadData), {"gzip", "corrupt"});
}

TEST_F(FileContentTest, FilesThatCannotBeRead) {
  expect_message(read_error(path("absent.csv"), ErrorKind::kIo),
                 {"absent.csv: ", "cannot open", "No such file"});
  expect_message(read_error(path(""), ErrorKind::kIo), {"is a directory"});
}

}  // namespace
}  // namespace mfga
