// Files that appear whole or not at all, at the place that a path leads to.
#include "core/atomic_file.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "data/table_fixture.hpp"

namespace mfga {
namespace {

class AtomicFileTest : public TableTest {
 protected:
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] mode_t mode(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(stat(path(name).c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  [[nodiscard]] std::ptrdiff_t file_count() const {
    return std::distance(std::filesystem::directory_iterator(path("")),
                         std::filesystem::directory_iterator());
  }
  void save(const std::string& name, std::string_view text) const {
    AtomicFile file(path(name));
    file.write(text);
    file.commit();
  }
};

TEST_F(AtomicFileTest, WithoutCommitTheOldFileStays) {
  (void)write("old", "file");
  {
    AtomicFile file(path("file"));
    file.write("new");
  }
  EXPECT_EQ(content("file"), "old");
  EXPECT_EQ(file_count(), 1);
  save("file", "new");
  EXPECT_EQ(content("file"), "new");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(AtomicFileTest, KeepsTheModeOfAFileAndGivesNewOnesTheUsual) {
  (void)write("old", "private");
  ASSERT_EQ(chmod(path("private").c_str(), 0600), 0);
  save("private", "new");
  EXPECT_EQ(mode("private"), 0600U);
  (void)write("", "usual");
  save("new", "new");
  EXPECT_EQ(mode("new"), mode("usual"));
}

TEST_F(AtomicFileTest, FollowsLinks) {
  (void)write("old", "file");
  std::filesystem::create_symlink("file", path("link"));
  std::filesystem::create_symlink(path("link"), path("link_to_link"));
  save("link_to_link", "new");
  EXPECT_EQ(content("file"), "new");
  std::filesystem::create_symlink("later", path("dangling"));
  save("dangling", "here");
  EXPECT_EQ(content("later"), "here");
  for (const std::string name : {"link", "link_to_link", "dangling"})
    EXPECT_TRUE(std::filesystem::is_symlink(path(name))) << name;
  EXPECT_EQ(file_count(), 5);
}

TEST_F(AtomicFileTest, WritesThroughWhatIsNoRegularFile) {
  std::filesystem::create_symlink("/dev/full", path("full"));
  AtomicFile full(path("full"));
  expect_message(error_of(ErrorKind::kSystem, [&] { full.write("text"); }), {"full", "No space left"});
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  {
    const AtomicFile unread(path("pipe"));  // waits for no reader
    EXPECT_EQ(unread.temporary_path(), "");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("full")));
  expect_message(error_of(ErrorKind::kIo, [&] { const AtomicFile folder(path("")); }), {"directory"});
}

TEST_F(AtomicFileTest, RemovesWhatKilledProcessesLeft) {
  const std::vector<std::string> stay = {"file",          "file.mfga-short",     "file.mfga-ABCDEFGH",
                                         "file.abcdefgh", "files.mfga-abcdefgh", "file.mfga-abcdefghi"};
  for (const std::string& name : stay) (void)write("", name);
  for (const std::string name : {"file.mfga-abcdefgh", "file.mfga-01234567"}) (void)write("half", name);
  AtomicFile living(path("file"));
  living.write("new");
  AtomicFile::remove_leftovers(path("file"));
  EXPECT_EQ(file_count(), std::ssize(stay) + 1);
  living.commit();
  EXPECT_EQ(content("file"), "new");
  EXPECT_EQ(file_count(), std::ssize(stay));
  // Behind links, too, and where there is no folder.
  std::filesystem::create_symlink("file", path("link"));
  (void)write("half", "file.mfga-abcdefgh");
  AtomicFile::remove_leftovers(path("link"));
  EXPECT_EQ(file_count(), std::ssize(stay) + 1);
  AtomicFile::remove_leftovers(path("no/folder"));
}

TEST_F(AtomicFileTest, KnowsTheSameFileByAnyName) {
  (void)write("a", "a");
  (void)write("b", "b");
  std::filesystem::create_symlink("a", path("link"));
  std::filesystem::create_hard_link(path("a"), path("hard"));
  std::filesystem::create_symlink("later", path("dangling"));
  std::filesystem::create_directory(path("folder"));
  for (const std::string other : {"a", "link", "hard", "folder/../a"})
    EXPECT_TRUE(is_same_file(path("a"), path(other))) << other;
  EXPECT_FALSE(is_same_file(path("a"), path("b")));
  EXPECT_FALSE(is_same_file(path("a"), path("new")));
  EXPECT_TRUE(is_same_file(path("new"), path("folder/../new")));
  EXPECT_TRUE(is_same_file(path("later"), path("dangling")));
  EXPECT_FALSE(is_same_file(path("new"), path("newer")));
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace mfga
