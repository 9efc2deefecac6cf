// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_writer.h"
#include "testing/byte_orders.h"
#include "testing/expected.h"
#include "testing/perf_data_builder.h"

namespace perf2dat::perfdata {
namespace {

using perf2dat::testing::AttrSpec;
using perf2dat::testing::both_orders;
using perf2dat::testing::ByteOrderTest;
using perf2dat::testing::error_of;
using perf2dat::testing::order_name;
using perf2dat::testing::PerfDataBuilder;
using perf2dat::testing::SampleSpec;
using perf2dat::testing::TrailerSpec;
using perf2dat::testing::value_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kOffset = 0x4711;

/// The fields of fixed size, in the order in which samples have them.
constexpr std::array<std::uint64_t, 9> kFixedFields = {
    kSampleIdentifier, kSampleIp,       kSampleTid, kSampleTime,  kSampleAddr,
    kSampleId,         kSampleStreamId, kSampleCpu, kSamplePeriod};

std::uint64_t pick_fields(unsigned combination) {
  std::uint64_t type = 0;
  for (std::size_t i = 0; i < kFixedFields.size(); ++i) {
    if ((combination >> i & 1U) != 0) type |= kFixedFields.at(i);
  }
  return type;
}

Attr attr_of(std::uint64_t sample_type, std::vector<std::uint64_t> ids = {}) {
  Attr attr;
  attr.type = kTypeTracepoint;
  attr.sample_type = sample_type;
  attr.sample_id_all = true;
  attr.ids = std::move(ids);
  return attr;
}

SampleSpec full_sample() {
  SampleSpec sample;
  sample.id = 0xf100000000000001;
  sample.ip = 0xf200000000000002;
  sample.pid = 0xf3000003;
  sample.tid = 0xf4000004;
  sample.time = 0xf500000000000005;
  sample.addr = 0xf600000000000006;
  sample.stream_id = 0xf700000000000007;
  sample.cpu = 0xf8000008;
  sample.period = 0xf900000000000009;
  // As long as the builder would make it.
  for (unsigned i = 0; i < 20; ++i) sample.raw.push_back(static_cast<std::byte>(0xe0 + i));
  return sample;
}

std::vector<std::uint64_t> numbers(std::size_t count) {
  std::vector<std::uint64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0xa000000000000000 + i;
  return values;
}

Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// The body of the only record of a recording.
Bytes only_body(const PerfDataBuilder& builder) {
  const Bytes file = builder.build();
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(load<std::uint64_t>(file.data() + at, builder.order()));
  };
  return copy(std::span(file).subspan(number(40), number(48)).subspan(kRecordHeaderSize));
}

class Samples : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }

  Bytes encode(std::uint64_t sample_type, const SampleSpec& sample) const {
    PerfDataBuilder builder(order());
    AttrSpec attr;
    attr.sample_type = sample_type;
    return only_body(builder.add_attr(attr).add_sample(0, sample));
  }

  Expected<Sample> decode(const Attr& attr, const Bytes& body) const {
    const SampleLayout layout(attr, order());
    Sample sample;
    if (!layout.decode(body, sample)) return layout.damage(body, kOffset);
    return sample;
  }

  /// The numbers of READ: one event's, or those of a group of `members`.
  static std::vector<std::uint64_t> read_numbers(std::uint64_t format, std::size_t members) {
    const auto bits = [&](std::uint64_t mask) {
      return static_cast<std::size_t>(std::popcount(format & mask));
    };
    const std::size_t times = bits(kReadTimeEnabled | kReadTimeRunning);
    const std::size_t per_member = 1 + bits(kReadId | kReadLost);
    if ((format & kReadGroup) == 0) return numbers(times + per_member);
    auto values = numbers(1 + times + members * per_member);
    values.front() = members;
    return values;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, Samples, both_orders(), order_name);

TEST_P(Samples, OfEveryCombinationOfFieldsHaveEachAtItsPlace) {
  const SampleSpec sample = full_sample();
  for (unsigned combination = 0; combination < 1U << kFixedFields.size(); ++combination) {
    for (const std::uint64_t raw : {std::uint64_t{0}, std::uint64_t{kSampleRaw}}) {
      const std::uint64_t type = pick_fields(combination) | raw;
      const auto has = [&](std::uint64_t field) { return (type & field) != 0; };
      const SampleLayout layout(attr_of(type), order());
      EXPECT_EQ(layout.has_time(), has(kSampleTime));
      EXPECT_EQ(layout.has_cpu(), has(kSampleCpu));
      const Bytes body = encode(type, sample);
      Sample decoded;
      ASSERT_TRUE(layout.decode(body, decoded));
      EXPECT_EQ(decoded.tid, has(kSampleTid) ? sample.tid : 0);
      EXPECT_EQ(decoded.time, has(kSampleTime) ? sample.time : 0);
      EXPECT_EQ(decoded.cpu, has(kSampleCpu) ? sample.cpu : 0);
      EXPECT_EQ(copy(decoded.raw), has(kSampleRaw) ? sample.raw : Bytes()) << std::hex << type;
    }
  }
}

TEST_P(Samples, OfEveryReadFormatHaveTheirRawDataAfterIt) {
  SampleSpec sample = full_sample();
  constexpr std::uint64_t kType = kSampleTid | kSampleTime | kSampleRead | kSampleRaw;
  for (std::uint64_t format = 0; format < 32; ++format) {
    Attr attr = attr_of(kType);
    attr.read_format = format;
    for (const std::size_t members : {0U, 1U, 3U, 200U}) {
      sample.read = read_numbers(format, members);
      const Bytes body = encode(kType, sample);
      const Sample decoded = value_of(decode(attr, body));
      EXPECT_EQ(decoded.time, sample.time);
      EXPECT_EQ(copy(decoded.raw), sample.raw) << format << ", " << members;
    }
  }
}

TEST_P(Samples, WithCallchainsOfAnyLengthHaveTheirRawDataAfterThem) {
  SampleSpec sample = full_sample();
  constexpr std::uint64_t kType = kSampleCpu | kSampleCallchain | kSampleRaw;
  for (const std::size_t length : {0U, 1U, 2U, 127U, 8000U}) {
    sample.callchain = numbers(length);
    const Bytes body = encode(kType, sample);
    EXPECT_EQ(copy(value_of(decode(attr_of(kType), body)).raw), sample.raw) << length;
  }
}

TEST_P(Samples, HaveReadBeforeCallchainBeforeRaw) {
  SampleSpec sample = full_sample();
  constexpr std::uint64_t kType = kSampleRead | kSampleCallchain | kSampleRaw;
  for (std::uint64_t format = 0; format < 32; ++format) {
    Attr attr = attr_of(kType);
    attr.read_format = format;
    sample.read = read_numbers(format, 2);
    sample.callchain = numbers(5);
    EXPECT_EQ(copy(value_of(decode(attr, encode(kType, sample))).raw), sample.raw) << format;
  }
}

TEST_P(Samples, MayHaveMoreAfterTheirRawData) {
  const SampleSpec sample = full_sample();
  constexpr std::uint64_t kBehindRaw = 0xff << 11U;  // BRANCH_STACK and others, IDENTIFIER too
  constexpr std::uint64_t kType = kSampleTime | kSampleRaw | kSampleIdentifier;
  Bytes body = encode(kType, sample);
  body.resize(body.size() + 1000, std::byte{0xff});
  EXPECT_EQ(copy(value_of(decode(attr_of(kType | kBehindRaw), body)).raw), sample.raw);
}

TEST_P(Samples, MayHaveEmptyRawData) {
  const Bytes body = ByteWriter(order()).u64(5).u32(0).take();
  EXPECT_THAT(value_of(decode(attr_of(kSampleTime | kSampleRaw), body)).raw, IsEmpty());
}

TEST_P(Samples, ThatAreCutShortAtAnyByteAreAnError) {
  SampleSpec sample = full_sample();
  std::uint64_t type = kSampleRead | kSampleCallchain | kSampleRaw;
  for (const std::uint64_t field : kFixedFields) type |= field;
  Attr attr = attr_of(type);
  for (const std::uint64_t format : {0U, 31U}) {
    attr.read_format = format;
    sample.read = read_numbers(format, 2);
    sample.callchain = numbers(3);
    Bytes body = encode(type, sample);
    ASSERT_EQ(copy(value_of(decode(attr, body)).raw), sample.raw);
    while (!body.empty()) {
      body.pop_back();
      // An exact copy, so that reading beyond it does not go unnoticed.
      const Bytes exact = copy(body);
      EXPECT_THAT(error_of(decode(attr, exact)), HasSubstr("the sample at offset 0x4711"));
    }
  }
}

TEST_P(Samples, WithRawDataThatIsLargerThanTheRestAreAnError) {
  const Bytes good = encode(kSampleTime | kSampleRaw, full_sample());
  for (const std::uint32_t size : {21U, 24U, 0x7fffffffU, 0xfffffffcU, 0xffffffffU}) {
    Bytes body = good;
    store(body.data() + 8, size, order());
    EXPECT_THAT(error_of(decode(attr_of(kSampleTime | kSampleRaw), body)),
                AllOf(HasSubstr("offset 0x4711"),
                      HasSubstr(fmt::format("raw data of {} bytes, but room for 20", size))));
  }
}

TEST_P(Samples, WithCountsThatOverflowAreAnError) {
  for (const std::uint64_t count :
       {5UL, 0x1000UL, 1UL << 32U, 1UL << 60U, 1UL << 61U, (1UL << 61U) - 1, 1UL << 63U, ~0UL,
        ~0UL / 8, ~0UL / 24, ~0UL / 24 + 1}) {
    const Bytes body = ByteWriter(order()).u64(count).zeros(24).take();
    EXPECT_THAT(error_of(decode(attr_of(kSampleCallchain | kSampleRaw), body)),
                AllOf(HasSubstr("offset 0x4711"), HasSubstr("before its raw data")));
    for (std::uint64_t format = 0; format < 32; ++format) {
      if ((format & kReadGroup) == 0) continue;
      for (const std::uint64_t next : {std::uint64_t{0}, std::uint64_t{kSampleCallchain}}) {
        Attr attr = attr_of(kSampleRead | kSampleRaw | next);
        attr.read_format = format;
        EXPECT_THAT(error_of(decode(attr, body)), HasSubstr("before its raw data"));
      }
    }
  }
}

TEST_P(Samples, WithoutRawDataNeedOnlyTheirFieldsOfFixedSize) {
  const Bytes body = ByteWriter(order()).u64(77).take();
  EXPECT_EQ(value_of(decode(attr_of(kSampleTime | kSampleRead | kSampleCallchain), body)).time,
            77U);
}

class FindAttr : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }
  AttrFinder finder(const std::vector<Attr>& attrs) const {
    return value_of(AttrFinder::create(attrs, order()));
  }
  Bytes body(std::initializer_list<std::uint64_t> fields) const {
    ByteWriter out(order());
    for (const std::uint64_t field : fields) out.u64(field);
    return out.take();
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, FindAttr, both_orders(), order_name);

TEST_P(FindAttr, TakesTheOnlyOneWhateverTheRecord) {
  for (const std::uint64_t type : {std::uint64_t{0}, std::uint64_t{kSampleIdentifier}}) {
    const AttrFinder only = finder({attr_of(type, {5})});
    EXPECT_EQ(only.of_sample({}), 0U);
    EXPECT_EQ(only.of_sample(body({6})), 0U);
    EXPECT_EQ(only.of_trailer({}), 0U);
    EXPECT_EQ(only.of_trailer(body({6})), 0U);
  }
}

TEST_P(FindAttr, OfNoneIsNoError) { EXPECT_TRUE(AttrFinder::create({}, order())); }

TEST_P(FindAttr, GoesByTheIdentifierWhereverTheOtherFieldsAre) {
  const AttrFinder found =
      finder({attr_of(kSampleIdentifier | kSampleIp, {5, 6}), attr_of(kSampleIdentifier, {7}),
              attr_of(kSampleIdentifier | kSampleTid | kSampleId, {8})});
  EXPECT_EQ(found.of_sample(body({5, 7})), 0U);
  EXPECT_EQ(found.of_sample(body({6, 7})), 0U);
  EXPECT_EQ(found.of_sample(body({7})), 1U);
  EXPECT_EQ(found.of_sample(body({8, 5, 5})), 2U);
}

TEST_P(FindAttr, GoesByTheIdWhereItIsAtTheSamePlaceInAll) {
  constexpr std::uint64_t kBefore = kSampleIp | kSampleTid | kSampleTime | kSampleAddr | kSampleId;
  const AttrFinder found = finder({attr_of(kBefore | kSampleCpu, {5}), attr_of(kBefore, {7})});
  EXPECT_EQ(found.of_sample(body({7, 7, 7, 7, 5})), 0U);
  EXPECT_EQ(found.of_sample(body({5, 5, 5, 5, 7, 5})), 1U);
}

TEST_P(FindAttr, GoesByAnIdAndAnIdentifierAtTheSamePlace) {
  const AttrFinder found =
      finder({attr_of(kSampleIdentifier | kSampleIp, {5}), attr_of(kSampleId, {7})});
  EXPECT_EQ(found.of_sample(body({7})), 1U);
}

TEST_P(FindAttr, FailsWhereNothingTellsEventsApart) {
  const auto fails = [&](const std::vector<Attr>& attrs) {
    EXPECT_THAT(error_of(AttrFinder::create(attrs, order())),
                AllOf(HasSubstr(fmt::format("it has {} events", attrs.size())),
                      HasSubstr("do not tell which one"), HasSubstr("record with")));
  };
  fails({attr_of(kSampleIp), attr_of(kSampleIp)});
  fails({attr_of(0), attr_of(0), attr_of(0)});
  fails({attr_of(kSampleIp | kSampleId, {5}), attr_of(kSampleId, {7})});
  fails({attr_of(kSampleId, {5}), attr_of(kSampleId | kSampleTime, {7})});
  fails({attr_of(kSampleIdentifier, {5}), attr_of(kSampleIp | kSampleId, {7})});
  fails({attr_of(kSampleIdentifier, {5}), attr_of(kSampleIp)});
  fails({attr_of(0), attr_of(kSampleIdentifier, {7})});
}

TEST_P(FindAttr, TakesTheFirstForId0) {
  const AttrFinder found =
      finder({attr_of(kSampleIdentifier, {5}), attr_of(kSampleIdentifier, {7})});
  EXPECT_EQ(found.of_sample(body({0})), 0U);
  EXPECT_EQ(found.of_trailer(body({7, 0})), 0U);
}

TEST_P(FindAttr, FindsNoneForAnUnknownIdOrWithoutOne) {
  const AttrFinder found =
      finder({attr_of(kSampleIdentifier, {5, 1UL << 40U}), attr_of(kSampleIdentifier, {7})});
  for (const std::uint64_t id : {1UL, 4UL, 6UL, 8UL, 65535UL, 65536UL, (1UL << 40U) + 5, ~0UL}) {
    EXPECT_EQ(found.of_sample(body({id, 5})), AttrFinder::kUnknown) << id;
    EXPECT_EQ(found.of_trailer(body({5, id})), AttrFinder::kUnknown) << id;
  }
  for (std::size_t size = 0; size < 8; ++size) {
    EXPECT_EQ(found.of_sample(Bytes(size)), AttrFinder::kUnknown);
    EXPECT_EQ(found.of_trailer(Bytes(size)), AttrFinder::kUnknown);
  }
}

TEST_P(FindAttr, FindsIdsOfAnySize) {
  const std::vector<std::uint64_t> ids = {1,          65534,      65535,    65536, 65537,
                                          1UL << 32U, 1UL << 63U, ~0UL - 1, ~0UL};
  std::vector<Attr> attrs;
  attrs.reserve(ids.size());
  for (const std::uint64_t id : ids) attrs.push_back(attr_of(kSampleIdentifier, {id}));
  const AttrFinder found = finder(attrs);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(found.of_sample(body({ids[i]})), i);
    EXPECT_EQ(found.of_trailer(body({3, ids[i]})), i);
  }
}

// As perf does, whatever the size of the id.
TEST_P(FindAttr, TakesTheLastOfThoseThatShareAnId) {
  for (const std::uint64_t id : {1UL, 65535UL, 65536UL, ~0UL}) {
    const AttrFinder found =
        finder({attr_of(kSampleIdentifier, {id, 2}), attr_of(kSampleIdentifier, {id}),
                attr_of(kSampleIdentifier, {3})});
    EXPECT_EQ(found.of_sample(body({id})), 1U) << id;
    EXPECT_EQ(found.of_trailer(body({id})), 1U) << id;
    EXPECT_EQ(found.of_sample(body({2})), 0U) << id;
  }
}

TEST_P(FindAttr, OfATrailerTakesTheFirstWhereNotAllHaveAnIdentifier) {
  const AttrFinder found = finder({attr_of(kSampleIdentifier, {5}), attr_of(kSampleId, {7})});
  EXPECT_EQ(found.of_trailer(body({7})), 0U);
  EXPECT_EQ(found.of_trailer({}), 0U);
}

class OtherRecords : public ByteOrderTest {
 protected:
  ByteOrder order() const { return GetParam(); }

  static Record record(RecordType type, std::span<const std::byte> body) {
    return {type, 0, kOffset, body};
  }

  /// The body of a COMM record, whose trailer has what `attr` asks for.
  Bytes comm_body(std::string_view comm, const AttrSpec& attr, const TrailerSpec& trailer) const {
    PerfDataBuilder builder(order());
    return only_body(builder.add_attr(attr).add_comm(1, 2, comm, trailer));
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, OtherRecords, both_orders(), order_name);

AttrSpec without_trailer() {
  AttrSpec attr;
  attr.sample_id_all = false;
  return attr;
}

TEST_P(OtherRecords, CommTellsATasksName) {
  const Bytes body = only_body(
      PerfDataBuilder(order()).add_attr(AttrSpec()).add_comm(0xf1000001, 0xf2000002, "a name"));
  const auto comm = value_of(decode_comm(record(RecordType::kComm, body), order()));
  EXPECT_EQ(comm.tid, 0xf2000002U);
  EXPECT_EQ(comm.comm, "a name");
}

TEST_P(OtherRecords, CommMayHaveAnEmptyName) {
  const Bytes body = comm_body("", without_trailer(), {});
  EXPECT_EQ(value_of(decode_comm(record(RecordType::kComm, body), order())).comm, "");
}

TEST_P(OtherRecords, CommWithoutItsNamesEndIsAnError) {
  const Bytes body = ByteWriter(order()).u32(1).u32(2).text("name").take();
  for (std::size_t size = 0; size <= body.size(); ++size) {
    const Bytes part = copy(std::span(body).first(size));
    EXPECT_THAT(error_of(decode_comm(record(RecordType::kComm, part), order())),
                HasSubstr(fmt::format("the record of a task's name at offset 0x4711 ends after {} "
                                      "bytes, inside a field",
                                      8 + size)));
  }
}

TEST_P(OtherRecords, ForkTellsTheTaskItsParentAndTheTime) {
  const Bytes body =
      only_body(PerfDataBuilder(order())
                    .add_attr(AttrSpec())
                    .add_fork(0xf1000001, 0xf2000002, 0xf3000003, 0xf4000004, 0xf500000000000005));
  const auto fork = value_of(decode_fork(record(RecordType::kFork, body), order()));
  EXPECT_EQ(fork.tid, 0xf3000003U);
  EXPECT_EQ(fork.parent_tid, 0xf4000004U);
  EXPECT_EQ(fork.time, 0xf500000000000005U);
}

TEST_P(OtherRecords, ForkThatIsCutShortIsAnError) {
  for (std::size_t size = 0; size < 24; ++size) {
    const Bytes body(size);
    EXPECT_THAT(error_of(decode_fork(record(RecordType::kFork, body), order())),
                HasSubstr("the record of a fork at offset 0x4711 ends"));
  }
}

TEST_P(OtherRecords, LostAndLostSamplesTellHowMany) {
  const Bytes lost =
      only_body(PerfDataBuilder(order()).add_attr(AttrSpec()).add_lost(0xf1, 0xf200000000000002));
  EXPECT_EQ(value_of(decode_lost(record(RecordType::kLost, lost), order())), 0xf200000000000002U);
  const Bytes samples =
      only_body(PerfDataBuilder(order()).add_attr(AttrSpec()).add_lost_samples(0xf300000000000003));
  EXPECT_EQ(value_of(decode_lost(record(RecordType::kLostSamples, samples), order())),
            0xf300000000000003U);
}

TEST_P(OtherRecords, LostThatIsCutShortIsAnError) {
  for (std::size_t size = 0; size < 16; ++size) {
    const Bytes body(size);
    EXPECT_THAT(error_of(decode_lost(record(RecordType::kLost, body), order())),
                HasSubstr("the record of lost events at offset 0x4711 ends"));
    if (size >= 8) continue;
    EXPECT_THAT(error_of(decode_lost(record(RecordType::kLostSamples, body), order())),
                HasSubstr("the record of lost events at offset 0x4711 ends"));
  }
}

TEST_P(OtherRecords, HaveTheirTimeAndCpuInTheTrailerOfAnyCombinationOfFields) {
  TrailerSpec trailer;
  trailer.id = 0xf100000000000001;
  trailer.pid = 0xf2000002;
  trailer.tid = 0xf3000003;
  trailer.time = 0xf400000000000004;
  trailer.stream_id = 0xf500000000000005;
  trailer.cpu = 0xf6000006;
  for (unsigned combination = 0; combination < 1U << kFixedFields.size(); ++combination) {
    const std::uint64_t type = pick_fields(combination);
    for (const bool all : {true, false}) {
      AttrSpec spec;
      spec.sample_type = type;
      spec.sample_id_all = all;
      const Bytes body = comm_body("sixteen letters!", spec, trailer);
      Attr attr = attr_of(type);
      attr.sample_id_all = all;
      const Trailer read = TrailerLayout(attr, order()).read(body);
      const auto told = [&](std::uint64_t field) { return all && (type & field) != 0; };
      EXPECT_EQ(read.time, told(kSampleTime) ? std::optional(trailer.time) : std::nullopt)
          << std::hex << type;
      EXPECT_EQ(read.cpu, told(kSampleCpu) ? std::optional(trailer.cpu) : std::nullopt)
          << std::hex << type;
    }
  }
}

TEST_P(OtherRecords, ThatAreTooShortForATrailerHaveNoTimeAndNoCpu) {
  const Attr attr = attr_of(kSampleTid | kSampleTime | kSampleCpu | kSampleIdentifier);
  for (std::size_t size = 0; size <= 24; ++size) {
    const Bytes body(size);
    const Trailer read = TrailerLayout(attr, order()).read(body);
    EXPECT_EQ(read.time.has_value(), size >= 24) << size;
    EXPECT_EQ(read.cpu.has_value(), size >= 16) << size;
  }
}

class IdOfSample : public FindAttr {};

INSTANTIATE_TEST_SUITE_P(Orders, IdOfSample, both_orders(), order_name);

TEST_P(IdOfSample, IsTheIdentifierOrTheIdAlsoOfASingleEvent) {
  EXPECT_EQ(finder({attr_of(kSampleIdentifier | kSampleIp, {5})}).id_of_sample(body({6, 7})), 6U);
  EXPECT_EQ(finder({attr_of(kSampleIp | kSampleId, {5})}).id_of_sample(body({6, 7})), 7U);
  EXPECT_EQ(finder({attr_of(kSampleIdentifier, {5}), attr_of(kSampleIdentifier, {7})})
                .id_of_sample(body({~0UL})),
            ~0UL);
}

TEST_P(IdOfSample, IsZeroWhereThereIsNoneOrTheSampleIsTooShort) {
  EXPECT_EQ(finder({attr_of(kSampleIp, {5})}).id_of_sample(body({6, 7})), 0U);
  EXPECT_EQ(finder({}).id_of_sample(body({6, 7})), 0U);
  const AttrFinder found = finder({attr_of(kSampleIp | kSampleId, {5})});
  for (std::size_t size = 0; size < 16; ++size) {
    EXPECT_EQ(found.id_of_sample(Bytes(size, std::byte{1})), 0U);
  }
}

}  // namespace
}  // namespace perf2dat::perfdata
