// SPDX-License-Identifier: LGPL-2.1-or-later
// A recording of any kind: a file, a stream from a pipe, a folder.
//
// Source: perf's documents perf.data-file-format.txt and perf.data-directory-format.txt in
// tools/perf/Documentation, and perf's util/header.c and util/session.c where these are silent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "perfdata/description.h"
#include "perfdata/record_stream.h"

namespace perf2dat::perfdata {

struct OpenOptions {
  /// A folder like tracefs with the event formats, for recordings that lack them; empty: none.
  std::string tracing_dir;
  /// Scratch files, for what comes from a pipe but must be read from the end, are made beside this.
  std::string output;
};

class Recording {
 public:
  /// `path` is a file, a FIFO, a folder of perf record --threads, or "-" for standard input.
  static Expected<Recording> open(const std::string& path, const OpenOptions& options);

  ByteOrder order() const { return description_.order; }

  /// What is known of the machine and the events so far. A stream tells it among its records.
  const Description& description() const { return description_; }
  /// Goes up whenever the description changes.
  unsigned generation() const { return description_.changes + 1; }

  /// Reads the next record that is not a part of the description; false: there is none.
  Expected<bool> next(Record& record);

  /// The same for the usual case, that the record is in memory. False: ask `next()`.
  bool next_buffered(Record& record) {
    return stream_ != nullptr && stream_->next_buffered(record);
  }

  /// An error about the last record, which tells the file of a folder that it is in.
  Error in_part(Error error) const;

  /// Bytes read so far, and in all; 0: unknown.
  std::uint64_t position() const;
  std::uint64_t size() const { return size_; }

  /// One line for each oddity of the recording as a whole. Complete after the last record.
  std::vector<std::string> warnings() const;

  /// Whether `path` leads to the file that is read.
  bool is_same_file(const std::string& path) const;

 private:
  enum class Kind { kFile, kFolder };
  struct Part {
    std::string path;                 // of a folder's file; empty: the recording's own
    std::unique_ptr<InputFile> file;  // nullptr: a pipe, or a folder's file that is not open
    std::uint64_t begin = 0;          // offset of the first record
    std::uint64_t size = 0;           // bytes of records, in a file that is finished
    std::uint64_t before = 0;         // bytes in the parts before this one
    StreamEnd end = StreamEnd::kOpen;
    std::unique_ptr<RecordStream> stream;  // nullptr: not read yet
  };

  Recording() = default;
  Expected<void> open_path(const std::string& path, const OpenOptions& options);
  Expected<void> open_directory(const std::string& path, const OpenOptions& options);
  Expected<void> open_descriptor(FileDescriptor fd, const OpenOptions& options);
  Expected<void> open_file(InputFile file, const OpenOptions& options, Kind kind);
  Expected<void> open_stream(std::unique_ptr<ByteSource> source, std::unique_ptr<InputFile> file,
                             ByteOrder order);
  Expected<void> add_formats(const OpenOptions& options);
  void add_part(std::unique_ptr<InputFile> file, std::uint64_t begin, std::uint64_t size,
                StreamEnd end);
  Expected<void> open_part();
  Expected<bool> find_next(Record& record);
  Expected<bool> describe(const Record& record, RecordStream& stream);

  Description description_;
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  RecordStream* stream_ = nullptr;  // of the part that is read; nullptr: none is open
  std::uint64_t size_ = 0;
  bool formats_from_dir_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace perf2dat::perfdata
