// Journals: a computation that is ended anywhere goes on to the same results.
#include "core/journal.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/deadline.hpp"
#include "data/table_fixture.hpp"

namespace mfga {
namespace {

struct Ended : std::runtime_error {
  Ended() : std::runtime_error("ended") {}
};

// Of units within units and of a loop; counts what it computes, and may end in the midst of it.
class Computation {
 public:
  explicit Computation(int most = 1000) : left_(most) {}

  std::vector<double> run(Journal* journal) {
    std::vector<double> all;
    for (int outer = 0; outer < 2; ++outer) {
      double first = 0;
      std::vector<double> list;
      std::string text;
      const auto compute = [&] {
        journaled(
            journal, "first",
            [&] {
              first = 1.0 / (3 + outer);
              ++computed;
              end();
            },
            first);
        const auto loop = [&] { list = looped(journal); };
        journaled(journal, "list", loop, list);
        journaled(
            journal, "text",
            [&] {
              text = fmt::format("of {}", outer);
              ++computed;
              end();
            },
            text);
      };
      journaled(journal, fmt::format("outer {}", outer), compute, first, list, text);
      all.push_back(first);
      all.insert(all.end(), list.begin(), list.end());
      all.push_back(static_cast<double>(text.size()));
    }
    return all;
  }

  int computed = 0;

 private:
  std::vector<double> looped(Journal* journal) {
    std::vector<double> list;
    double sum = 0.1;
    int turn = 0;
    const auto state = [&](Archive& bytes) { bytes(list, sum, turn); };
    if (journal != nullptr) static_cast<void>(journal->resume_loop(state));
    for (; turn < 3; ++turn) {
      if (journal != nullptr) journal->in_loop(state);
      sum = sum * 1.7 + 1e-3;
      list.push_back(sum);
      ++computed;
      end();
    }
    return list;
  }
  void end() {
    if (--left_ == 0) throw Ended();
  }

  int left_;
};

class JournalTest : public TableTest {
 protected:
  JournalTest() : TableTest(folder_in_memory()) {}
  [[nodiscard]] Checkpoint checkpoint(bool resume) const {
    return {.path = path("f"), .every = 0, .resume = resume};
  }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path("f"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(path("f")); }

  // Leaves a file of a computation that was ended after so many steps.
  void leave(int steps, const Fingerprint& fingerprint = {}) {
    WorkClock clock;
    Control control({});
    Journal journal(checkpoint(false), fingerprint, clock, control);
    EXPECT_THROW(static_cast<void>(Computation(steps).run(&journal)), Ended);
  }
};

TEST_F(JournalTest, GoesOnFromAnyStep) {
  Computation whole;
  const std::vector<double> expected = whole.run(nullptr);
  for (int steps = 1; steps <= whole.computed; ++steps) {
    leave(steps);
    WorkClock clock;
    Control control({});
    Journal journal(checkpoint(true), {}, clock, control);
    Computation rest;
    EXPECT_EQ(rest.run(&journal), expected) << steps;
    // The step that was under way is done again.
    EXPECT_EQ(rest.computed, whole.computed - steps + 1) << steps;
    journal.finish();
    EXPECT_FALSE(is_there());
  }
}

TEST_F(JournalTest, GoesOnAgainAndAgain) {
  const std::vector<double> expected = Computation().run(nullptr);
  for (int runs = 1;; ++runs) {
    ASSERT_LT(runs, 20);
    WorkClock clock;
    Control control({});
    Journal journal(checkpoint(true), {}, clock, control);
    Computation part(2);
    try {
      EXPECT_EQ(part.run(&journal), expected);
      EXPECT_GT(runs, 5);
      break;
    } catch (const Ended&) {
    }
  }
}

TEST_F(JournalTest, IsSmallOnceAUnitIsDone) {
  WorkClock clock;
  Control control({});
  Journal journal(checkpoint(false), {}, clock, control);
  std::vector<double> large(10000, 1.5);
  double small = 0;
  std::uintmax_t most = 0;
  const auto compute = [&] {
    journaled(
        &journal, "large", [] {}, large);
    most = std::filesystem::file_size(path("f"));
    small = large[3];
  };
  journaled(&journal, "small", compute, small);
  EXPECT_GT(most, 8 * large.size());
  EXPECT_LT(std::filesystem::file_size(path("f")), 1000U);
}

TEST_F(JournalTest, RefusesDamagedFiles) {
  leave(7, {{"rows", "3"}});
  const std::string whole = content();
  WorkClock clock;
  Control control({});
  const auto refuses = [&](const std::string& bytes) {
    std::ofstream(path("f"), std::ios::binary) << bytes;
    expect_message(error_of(ErrorKind::kBadData,
                            [&] {
                              const Journal journal(checkpoint(true), {{"rows", "3"}}, clock, control);
                            }),
                   {path("f"), "checkpoint"});
    EXPECT_THROW(checkpoint(true).validate(), Error);
    EXPECT_EQ(content(), bytes);
  };
  for (std::size_t size = 0; size < whole.size(); ++size) refuses(whole.substr(0, size));
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << (place % 8)));
    refuses(damaged);
  }
  refuses(whole + "x");
  refuses("a,b\n1,2\n");
}

TEST_F(JournalTest, SaysWhatDiffers) {
  leave(2, {{"rows", "3"}, {"the numbers", "0a", false}, {"`terms`", "auto"}, {"`old`", "1"}});
  WorkClock clock;
  Control control({});
  const auto message = [&](const Fingerprint& fingerprint) {
    return error_of(ErrorKind::kInvalidArgument,
                    [&] { const Journal journal(checkpoint(true), fingerprint, clock, control); });
  };
  const std::string text =
      message({{"rows", "4"}, {"the numbers", "0b", false}, {"`terms`", "auto"}, {"`new`", "2"}});
  expect_message(text, {"f: the checkpoint is that of another fit",
                        "rows (3 there, 4 here), the numbers, `new` (none there, 2 here), `old` (1 there, "
                        "none here). "});
  EXPECT_EQ(text.find("terms"), std::string::npos);
  EXPECT_TRUE(is_there());
}

TEST_F(JournalTest, IsNotOverwrittenByMistake) {
  checkpoint(true).validate();
  checkpoint(false).validate();
  EXPECT_FALSE(is_there());
  leave(4);
  const std::string whole = content();
  expect_message(error_of(ErrorKind::kInvalidArgument, [&] { checkpoint(false).validate(); }),
                 {"f: holds a fit that is not done", "`resume`", "remove the file"});
  checkpoint(true).validate();
  EXPECT_EQ(content(), whole);
  Checkpoint other = checkpoint(false);
  other.path = path("no/folder");
  EXPECT_THROW(other.validate(), Error);
  other.path = "/dev/null";
  expect_message(error_of(ErrorKind::kIo, [&] { other.validate(); }), {"/dev/null", "regular file"});
  other.path = "";
  other.validate();
  other.resume = true;
  EXPECT_THROW(other.validate(), Error);
  other = checkpoint(true);
  other.every = -1;
  EXPECT_THROW(other.validate(), Error);
}

// Once somebody asks for an end, results are what was left of the time for.
TEST_F(JournalTest, KeepsWhatWasThereBeforeAStop) {
  bool stops = false;
  WorkClock clock;
  {
    Control control(
        [&](const Progress&) { return stops ? ProgressAction::kStop : ProgressAction::kContinue; });
    Journal journal(checkpoint(false), {}, clock, control);
    double first = 0;
    double second = 0;
    journaled(
        &journal, "first", [&] { first = 1; }, first);
    journaled(
        &journal, "second",
        [&] {
          stops = true;
          EXPECT_THROW(control.show({}), OutOfTime);
          second = 2;  // what there was
        },
        second);
    journaled(
        &journal, "third", [&] { second = 3; }, second);
    EXPECT_EQ(second, 3);
    journal.finish();
  }
  ASSERT_TRUE(is_there());
  Control control({});
  Journal journal(checkpoint(true), {}, clock, control);
  double first = 0;
  double second = 0;
  journaled(
      &journal, "first", [&] { ADD_FAILURE(); }, first);
  EXPECT_EQ(first, 1);
  journaled(
      &journal, "second", [&] { second = 20; }, second);
  EXPECT_EQ(second, 20);
}

TEST_F(JournalTest, SecondsAndEndsOfTimeAreKept) {
  const auto run = [&](bool resume) {
    WorkClock clock;
    Control control({});
    Journal journal(checkpoint(resume), {}, clock, control);
    double value = 0;
    journaled(
        &journal, "long",
        [&] {
          EXPECT_FALSE(resume);
          clock.advance_to(100);
          value = 4;
        },
        value);
    EXPECT_EQ(value, 4);
    EXPECT_GE(clock.seconds(), 100);
    EXPECT_TRUE(is_over({&clock, 99}));
    EXPECT_FALSE(is_over(kNever));
    const auto too_long = [&] {
      journaled(
          &journal, "too long",
          [&] {
            EXPECT_FALSE(resume);
            throw OutOfTime();
          },
          value);
    };
    EXPECT_THROW(too_long(), OutOfTime);
    if (resume)
      journaled(
          &journal, "other", [&] { value = 5; }, value);
    EXPECT_EQ(value, resume ? 5 : 4);
  };
  run(false);
  run(true);
}

TEST_F(JournalTest, TheComputationGoesOnWithoutAFileThatCannotBeWritten) {
  std::filesystem::create_directory(path("folder"));
  Checkpoint there = checkpoint(false);
  there.path = path("folder/f");
  WorkClock clock;
  Control control({});
  Journal journal(there, {}, clock, control);
  std::filesystem::remove(path("folder"));
  EXPECT_EQ(Computation().run(&journal), Computation().run(nullptr));
  expect_message(journal.problem(), {"folder/f"});
}

TEST_F(JournalTest, ArchivesAreExact) {
  struct Values {
    double number = 0.1;
    Index index = -3;
    bool truth = true;
    std::string text = std::string("a\0b", 3);
    std::vector<bool> truths = {true, false, true};
    std::vector<std::vector<double>> lists = {{}, {1e-310, -0.0}};
    std::optional<int> none;
    std::optional<int> some = 7;
    Matrix matrix = Matrix(2, 3);
    std::vector<Atom> atoms;
  } in;
  in.matrix(1, 2) = 5;
  const SharedNumbers shared(std::vector<double>(1000, 0.25));
  for (int i = 0; i < 20; ++i) in.atoms.push_back({"nystrom", 0.5, {1, 2}, {3}, {0.1 * i}, shared});
  in.atoms.push_back({"step", 1, {}, {}, {0.5}, {}});
  const auto archive_all = [](Archive& bytes, Values& values) {
    bytes(values.number, values.index, values.truth, values.text, values.truths, values.lists, values.none,
          values.some, values.matrix, values.atoms);
  };
  Archive written;
  archive_all(written, in);
  EXPECT_LT(written.bytes().size(), 12000U);  // what is shared stands once
  Values out;
  out.number = 0;
  out.none = 1;
  out.some = {};
  out.lists = {{3}};
  Archive read(written.bytes());
  archive_all(read, out);
  EXPECT_TRUE(read.is_at_end());
  EXPECT_EQ(out.number, in.number);
  EXPECT_EQ(out.text, in.text);
  EXPECT_EQ(out.truths, in.truths);
  EXPECT_EQ(out.lists, in.lists);
  EXPECT_TRUE(std::signbit(out.lists[1][1]));
  EXPECT_EQ(out.none, in.none);
  EXPECT_EQ(out.some, in.some);
  EXPECT_EQ(out.matrix.values, in.matrix.values);
  EXPECT_EQ(out.atoms, in.atoms);
  for (std::size_t size = 0; size < written.bytes().size(); size += 7) {
    const std::string cut = written.bytes().substr(0, size);
    Archive damaged(cut);
    EXPECT_THROW(archive_all(damaged, out), Error) << size;
  }
}

}  // namespace
}  // namespace mfga
