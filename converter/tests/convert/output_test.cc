// SPDX-License-Identifier: LGPL-2.1-or-later
// The output appears whole, where it may, or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "testing/conversions.h"
#include "testing/expected.h"
#include "testing/files.h"
#include "testing/limits.h"
#include "testing/perf_data_builder.h"
#include "testing/recordings.h"

namespace perf2dat::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::StartsWith;

constexpr auto kOutput = Error::Kind::kOutput;

Bytes small_recording() { return full_recording(kHostOrder); }

/// Enough samples for some calls of the progress callback; every third is late.
Bytes large_recording() {
  PerfDataBuilder builder = ping_recording(kHostOrder);
  for (std::uint64_t i = 0; i < 40000; ++i) {
    const std::uint64_t late = i % 3 == 0 ? 50 : 0;
    builder.add_sample(0,
                       ping(kHostOrder, {1, 1000 + i - late, static_cast<std::uint32_t>(i % 4)}));
  }
  return builder.build();
}

Bytes something_else() { return Bytes(10, std::byte{'o'}); }

class Output : public ::testing::Test {
 protected:
  explicit Output(const Bytes& recording = small_recording()) : workshop_(recording) {}

  std::string path(std::string_view name) const { return workshop_.directory().path(name); }
  Options& options() { return workshop_.options(); }
  std::string error(Error::Kind kind = kOutput) const { return workshop_.error(kind); }
  void expect_converted() const {
    const auto summary = value_of(workshop_.convert());
    EXPECT_EQ(workshop_.output().events.size(), summary.converted);
  }
  void put_something_else() const { workshop_.directory().write("out.dat", something_else()); }

  Workshop workshop_;
};

TEST_F(Output, AppearsBesideTheRecordingAndNothingElseDoes) {
  const auto recording = read_file(path("in.data"));
  expect_converted();
  EXPECT_THAT(workshop_.directory().entries(), ElementsAre(Key("in.data"), Key("out.dat")));
  EXPECT_TRUE(read_file(path("in.data")) == recording);
}

TEST_F(Output, MayBeReadByWhoeverTheUmaskLets) {
  const mode_t mask = ::umask(0027);
  expect_converted();
  ::umask(mask);
  EXPECT_EQ(fs::status(path("out.dat")).permissions(), static_cast<fs::perms>(0640));
}

TEST_F(Output, GoesByDefaultFromPerfDataToTraceDatInTheWorkingDirectory) {
  const auto before = fs::current_path();
  fs::rename(path("in.data"), path("perf.data"));
  fs::current_path(workshop_.directory().path(""));
  const auto summary = convert(Options());
  fs::current_path(before);
  EXPECT_EQ(value_of(summary).converted, 4U);
  EXPECT_THAT(workshop_.directory().entries(), ElementsAre(Key("perf.data"), Key("trace.dat")));
}

TEST_F(Output, ThatExistsIsRefusedAndStaysAsItIs) {
  put_something_else();
  EXPECT_THAT(error(), AllOf(StartsWith(path("out.dat") + ": it exists"), HasSubstr("--force")));
  EXPECT_TRUE(read_file(path("out.dat")) == something_else());
}

TEST_F(Output, ThatExistsIsReplacedWhenAskedTo) {
  put_something_else();
  options().overwrite = true;
  expect_converted();
  EXPECT_THAT(workshop_.directory().entries(), ElementsAre(Key("in.data"), Key("out.dat")));
}

TEST_F(Output, AppearsAlsoWhenItMayReplaceAndNothingIsThere) {
  options().overwrite = true;
  expect_converted();
  EXPECT_THAT(workshop_.directory().entries(), ElementsAre(Key("in.data"), Key("out.dat")));
}

TEST_F(Output, IsNotTouchedBeforeTheEnd) {
  for (const bool exists : {false, true}) {
    if (exists) put_something_else();
    options().overwrite = exists;
    const auto before = workshop_.directory().entries();
    options().progress = [&](std::uint64_t, std::uint64_t) {
      EXPECT_TRUE(workshop_.directory().entries() == before);
      return true;
    };
    expect_converted();
    fs::remove(path("out.dat"));
  }
}

TEST_F(Output, ThatAppearsMeanwhileIsNotReplaced) {
  options().progress = [&](std::uint64_t, std::uint64_t) {
    put_something_else();
    return true;
  };
  EXPECT_THAT(error_of(workshop_.convert(), kOutput), HasSubstr("it exists"));
  EXPECT_THAT(workshop_.directory().entries(), ElementsAre(Key("in.data"), Key("out.dat")));
  EXPECT_TRUE(read_file(path("out.dat")) == something_else());
}

TEST_F(Output, BehindASymbolicLinkIsReplacedAndTheLinkStays) {
  workshop_.directory().write("target", something_else());
  fs::create_symlink("target", path("out.dat"));
  EXPECT_THAT(error(), HasSubstr("it exists"));
  options().overwrite = true;
  expect_converted();
  EXPECT_EQ(fs::read_symlink(path("out.dat")), "target");
  EXPECT_THAT(workshop_.directory().entries(),
              ElementsAre(Key("in.data"), Key("out.dat"), Key("target")));
}

TEST_F(Output, BehindASymbolicLinkNeedsNoRoomBesideTheLink) {
  fs::create_directory(path("links"));
  fs::create_symlink(path("target"), path("links/out.dat"));
  const auto recording = read_file(path("in.data"));
  const std::string fifo = path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  // Somebody reads when the output is settled; what describes the recording is at its end, so it
  // is kept in a file until then.
  std::thread writer([&] {
    std::ofstream pipe(fifo, std::ios::binary);
    fs::remove_all(path("links"));
    pipe.write(reinterpret_cast<const char*>(recording.data()),
               static_cast<std::streamsize>(recording.size()));
  });
  options().input = fifo;
  options().output = path("links/out.dat");
  const auto summary = workshop_.convert();
  writer.join();
  EXPECT_EQ(value_of(summary).converted, 4U);
  EXPECT_TRUE(fs::is_regular_file(path("target")));
}

class OutputIsInput : public Output {
 protected:
  /// The recording is refused as the output, and stays.
  void expect_refused(const std::string& output) {
    options().output = output;
    for (const bool overwrite : {true, false}) {
      options().overwrite = overwrite;
      EXPECT_THAT(error(), HasSubstr(overwrite ? ": it is the recording itself: name another output"
                                               : ": it exists: use --force to replace it"));
    }
    EXPECT_TRUE(read_file(path("in.data")) == small_recording());
  }
};

TEST_F(OutputIsInput, IsRefused) { expect_refused(path("in.data")); }

TEST_F(OutputIsInput, IsRefusedByAnotherSpelling) { expect_refused(path("./in.data")); }

TEST_F(OutputIsInput, IsRefusedThroughASymbolicLink) {
  fs::create_symlink("in.data", path("link"));
  expect_refused(path("link"));
}

TEST_F(OutputIsInput, IsRefusedThroughAHardLink) {
  fs::create_hard_link(path("in.data"), path("link"));
  expect_refused(path("link"));
}

TEST_F(OutputIsInput, IsRefusedWhereTheInputIsALink) {
  fs::create_symlink("in.data", path("link"));
  options().input = path("link");
  expect_refused(path("in.data"));
}

TEST_F(OutputIsInput, IsRefusedAlsoForAFileOfAFolder) {
  fs::create_directory(path("folder"));
  fs::rename(path("in.data"), path("folder/data"));
  write_file(path("folder/data.0"), {});
  options().input = path("folder");
  options().overwrite = true;
  for (const auto* const part : {"folder/data", "folder/data.0"}) {
    options().output = path(part);
    EXPECT_EQ(error(), path(part) + ": it is the recording itself: name another output");
  }
  EXPECT_TRUE(read_file(path("folder/data")) == small_recording());
}

TEST_F(Output, ThatExistsIsRefusedBeforeTheRecordingIsRead) {
  put_something_else();
  options().input = path("missing");
  EXPECT_THAT(error(), StartsWith(path("out.dat") + ": it exists"));
  // A pipe that nobody writes to would be waited for.
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  options().input = path("fifo");
  EXPECT_THAT(error(), StartsWith(path("out.dat") + ": it exists"));
}

class OutputPath : public Output {
 protected:
  std::string error_for(const std::string& output, bool overwrite) {
    options().output = output;
    options().overwrite = overwrite;
    auto message = error();
    EXPECT_THAT(message, StartsWith(output + ": "));
    return message;
  }
};

TEST_F(OutputPath, ThroughARegularFileIsAnError) {
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(error_for(path("in.data/out.dat"), overwrite), HasSubstr("Not a directory"));
  }
}

TEST_F(OutputPath, ThroughAMissingDirectoryIsAnError) {
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(error_for(path("missing/out.dat"), overwrite), HasSubstr("No such file"));
  }
}

TEST_F(OutputPath, ThatIsEmptyIsAnError) {
  for (const bool overwrite : {false, true}) EXPECT_NE(error_for("", overwrite), "");
}

TEST_F(OutputPath, OfADirectoryIsAnError) {
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(error_for(path(""), overwrite), HasSubstr("not a regular file"));
  }
}

TEST_F(OutputPath, OfADeviceIsAnErrorAndTheDeviceStays) {
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(error_for("/dev/null", overwrite), HasSubstr("not a regular file"));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
  }
}

TEST_F(OutputPath, OfAFifoIsAnErrorAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(error_for(path("fifo"), overwrite), HasSubstr("not a regular file"));
  }
}

class LargeOutput : public Output {
 protected:
  LargeOutput() : Output(large_recording()) {}

  /// The arguments of the progress callback's calls.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress() {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> calls;
    options().progress = [&](std::uint64_t done, std::uint64_t total) {
      calls.emplace_back(done, total);
      return true;
    };
    expect_converted();
    fs::remove(path("out.dat"));
    options().progress = nullptr;
    return calls;
  }
};

TEST_F(LargeOutput, OnAFullDiskIsAnErrorAndLeavesNothing) {
  expect_converted();
  const std::uint64_t size = fs::file_size(path("out.dat"));
  for (const bool exists : {true, false}) {
    if (exists) {
      put_something_else();
    } else {
      fs::remove(path("out.dat"));
    }
    options().overwrite = true;
    for (const std::uint64_t limit :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, size / 2, size - 1}) {
      const FileSizeLimit full(limit);
      EXPECT_THAT(error(), AllOf(StartsWith(path("out.dat") + ": "), HasSubstr("cannot write"),
                                 HasSubstr("File too large")));
    }
  }
  const FileSizeLimit enough(size * 2);
  expect_converted();
}

TEST_F(LargeOutput, TellsProgressInAscendingNumbersFromNothingToTheWhole) {
  const auto calls = progress();
  ASSERT_GE(calls.size(), 4U);
  const std::uint64_t total = calls.front().second;
  EXPECT_EQ(total, load<std::uint64_t>(read_file(path("in.data")).data() + 48, kHostOrder));
  EXPECT_EQ(calls.front().first, 0U);
  EXPECT_EQ(calls.back().first, total);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].second, total);
    // The last call comes after the output is written, and is the last chance to cancel.
    if (i + 1 < calls.size()) {
      EXPECT_GT(calls[i].first, calls[i - 1].first);
    }
  }
}

TEST_F(LargeOutput, CancelledAtAnyTimeLeavesNothing) {
  const std::size_t calls = progress().size();
  for (const bool exists : {false, true}) {
    if (exists) put_something_else();
    options().overwrite = exists;
    for (std::size_t last = 0; last < calls; ++last) {
      std::size_t call = 0;
      options().progress = [&](std::uint64_t, std::uint64_t) { return call++ < last; };
      EXPECT_EQ(error(Error::Kind::kCancelled), "cancelled");
      EXPECT_EQ(call, last + 1) << "goes on after it was cancelled";
    }
  }
}

TEST_F(LargeOutput, IsTheSameEachTimeAndWithoutACheck) {
  expect_converted();
  const auto checked = read_file(path("out.dat"));
  options().check = false;
  options().output = path("unchecked.dat");
  EXPECT_FALSE(value_of(workshop_.convert()).checked);
  EXPECT_TRUE(read_file(path("unchecked.dat")) == checked);
}

}  // namespace
}  // namespace perf2dat::testing
