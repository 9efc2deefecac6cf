// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata/recording.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "perfdata/tracing_data.h"
#include "perfdata/tracing_dir.h"

namespace perf2dat::perfdata {
namespace {

namespace fs = std::filesystem;

constexpr auto kDirNotUsed =
    "the recording has event formats of its own: --tracing-dir is not used";

/// Copies all that a source has left into a file that can be read by offset.
Expected<InputFile> spool(std::span<const std::byte> begin, ByteSource& source,
                          const std::string& output) {
  P2D_ASSIGN(auto scratch, ScratchFile::create_beside(output));
  P2D_TRY(scratch.append(begin));
  std::vector<std::byte> buffer(ReadAhead::kChunk);
  for (;;) {
    P2D_ASSIGN(const std::size_t done, source.read(buffer));
    P2D_TRY(scratch.append(std::span(buffer).first(done)));
    if (done < buffer.size()) break;
  }
  return InputFile::adopt(scratch.take_descriptor());
}

/// The data files of a folder of perf record --threads: data.0, data.1 and so on, by number.
Expected<std::vector<std::string>> thread_files(const std::string& directory) {
  std::vector<std::pair<std::size_t, std::string>> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (name.starts_with("data.")) files.emplace_back(name.size(), entry->path().string());
  }
  if (error) return input_error("cannot read the folder: {}", error.message());
  std::sort(files.begin(), files.end());
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (auto& [size, path] : files) paths.push_back(std::move(path));
  return paths;
}

/// An error of a file in a folder.
Error in_file(const fs::path& path, Error error) {
  error.message = fmt::format("{}: {}", path.filename().string(), error.message);
  return error;
}

}  // namespace

Expected<Recording> Recording::open(const std::string& path, const OpenOptions& options) {
  Recording recording;
  P2D_TRY(recording.open_path(path, options));
  P2D_TRY(recording.add_formats(options));
  return recording;
}

Expected<void> Recording::open_path(const std::string& path, const OpenOptions& options) {
  if (path == "-") {
    FileDescriptor fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!fd.valid()) return input_error("there is no standard input");
    return open_descriptor(std::move(fd), options);
  }
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return open_directory(path, options);
  P2D_ASSIGN(auto fd, open_for_reading(path));
  return open_descriptor(std::move(fd), options);
}

Expected<void> Recording::open_directory(const std::string& path, const OpenOptions& options) {
  auto file = InputFile::open(path + "/data");
  if (!file) {
    return input_error("it is a folder, but not of perf record --threads: its file 'data': {}",
                       file.error().message);
  }
  const auto opened = open_file(*std::move(file), options, Kind::kFolder);
  if (!opened) return tl::unexpected(in_file("data", opened.error()));
  parts_.front().path = path + "/data";
  P2D_ASSIGN(const auto names, thread_files(path));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& name = names[i];
    const auto expected = fmt::format("data.{}", i);
    if (fs::path(name).filename() != expected && warnings_.empty()) {
      warnings_.push_back(
          fmt::format("its files are not numbered from 0 on without a gap: there is "
                      "no {}, and its events are missing",
                      expected));
    }
    // Each is opened again when it is read: there may be more of them than may be open.
    const auto thread_file = InputFile::open(name);
    if (!thread_file) return tl::unexpected(in_file(name, thread_file.error()));
    // All files of a recording were finished, or none was.
    add_part(nullptr, 0, thread_file->size(), parts_.front().end);
    parts_.back().path = name;
  }
  return {};
}

// A stream may lie in a file, and a file may come through a pipe: the header decides.
Expected<void> Recording::open_descriptor(FileDescriptor fd, const OpenOptions& options) {
  if (is_regular_file(fd)) {
    P2D_ASSIGN(auto file, InputFile::adopt(std::move(fd)));
    std::array<std::byte, kPipeHeaderSize> bytes{};
    P2D_ASSIGN(const std::size_t done, file.read_at(0, bytes));
    P2D_ASSIGN(const auto start, read_start(std::span(bytes).first(done)));
    if (!start.is_stream) return open_file(std::move(file), options, Kind::kFile);
    auto kept = std::make_unique<InputFile>(std::move(file));
    auto source = std::make_unique<FileSource>(*kept, start.size, kept->size() - start.size);
    size_ = kept->size();
    return open_stream(std::move(source), std::move(kept), start.order);
  }
  auto source = std::make_unique<PipeSource>(std::move(fd));
  std::array<std::byte, kPipeHeaderSize> bytes{};
  P2D_ASSIGN(const std::size_t done, source->read(bytes));
  const auto begin = std::span(bytes).first(done);
  P2D_ASSIGN(const auto start, read_start(begin));
  if (start.is_stream) return open_stream(std::move(source), nullptr, start.order);
  // What describes the events is behind the data.
  P2D_ASSIGN(auto file, spool(begin, *source, options.output));
  return open_file(std::move(file), options, Kind::kFile);
}

Expected<void> Recording::open_stream(std::unique_ptr<ByteSource> source,
                                      std::unique_ptr<InputFile> file, ByteOrder order) {
  description_.order = order;
  Part part;
  part.file = std::move(file);
  part.begin = kPipeHeaderSize;
  part.stream =
      std::make_unique<RecordStream>(std::move(source), order, part.begin, StreamEnd::kOpen);
  parts_.push_back(std::move(part));
  stream_ = parts_.back().stream.get();
  return {};
}

Expected<void> Recording::open_file(InputFile file, const OpenOptions& options, Kind kind) {
  P2D_ASSIGN(const auto header, read_header(file));
  description_.order = header.order;
  P2D_ASSIGN(auto attrs, read_attrs(file, header));
  for (auto& attr : attrs) add_attr(std::move(attr), description_);
  auto data = header.data;
  auto end = StreamEnd::kExact;
  // In a folder the samples are in other files, and this one may be finished without any record.
  const bool may_be_empty = kind == Kind::kFolder && options.tracing_dir.empty();
  if (header.is_unfinished() && !may_be_empty) {
    if (options.tracing_dir.empty()) {
      return input_error(
          "its header says that it has no data: perf record was killed before it finished the "
          "file, so the event formats are missing; give them with --tracing-dir (a copy of the "
          "recorded machine's /sys/kernel/tracing)");
    }
    data.size = file.size() - data.offset;
    end = StreamEnd::kOpen;
    warnings_.emplace_back("perf record did not finish the recording: its end may be missing");
  } else {
    P2D_TRY(read_features(file, header, description_));
  }
  add_part(std::make_unique<InputFile>(std::move(file)), data.offset, data.size, end);
  return {};
}

void Recording::add_part(std::unique_ptr<InputFile> file, std::uint64_t begin, std::uint64_t size,
                         StreamEnd end) {
  Part part;
  part.file = std::move(file);
  part.begin = begin;
  part.size = size;
  part.before = size_;
  part.end = end;
  size_ += size;
  parts_.push_back(std::move(part));
}

Expected<void> Recording::open_part() {
  Part& part = parts_[part_];
  if (!part.file) {
    P2D_ASSIGN(auto file, InputFile::open(part.path));
    part.file = std::make_unique<InputFile>(std::move(file));
  }
  part.stream = std::make_unique<RecordStream>(
      std::make_unique<FileSource>(*part.file, part.begin, part.size), description_.order,
      part.begin, part.end);
  stream_ = part.stream.get();
  return {};
}

Expected<void> Recording::add_formats(const OpenOptions& options) {
  if (options.tracing_dir.empty()) return {};
  if (description_.tracing) {
    warnings_.emplace_back(kDirNotUsed);
    return {};
  }
  P2D_ASSIGN(description_.tracing, read_tracing_dir(options.tracing_dir, description_.order));
  formats_from_dir_ = true;
  return {};
}

namespace {

bool may_describe(RecordType type) {
  return type >= RecordType::kHeaderAttr && type <= RecordType::kHeaderFeature;
}

}  // namespace

Expected<bool> Recording::describe(const Record& record, RecordStream& stream) {
  if (record.type == RecordType::kHeaderTracingData) {
    // u32 size of the event formats, which follow the record, with zeros to a multiple of 8.
    ByteReader reader(record.body, description_.order, record.offset + kRecordHeaderSize);
    const std::uint32_t size = reader.u32();
    if (!reader.ok()) return cut_short("the record of the event formats", reader);
    const std::uint64_t offset = stream.offset();
    P2D_ASSIGN(const auto bytes, stream.read_payload(size));
    P2D_ASSIGN(description_.tracing, parse_tracing_data(bytes, offset));
    ++description_.changes;
    if (std::exchange(formats_from_dir_, false)) warnings_.emplace_back(kDirNotUsed);
  } else {
    P2D_ASSIGN(const bool described, parse_description(record, description_));
    if (!described) return false;
  }
  return true;
}

Expected<bool> Recording::next(Record& record) {
  return find_next(record).map_error([this](Error error) { return in_part(std::move(error)); });
}

Expected<bool> Recording::find_next(Record& record) {
  while (part_ < parts_.size()) {
    if (stream_ == nullptr) P2D_TRY(open_part());
    P2D_ASSIGN(const bool found, stream_->next(record));
    if (!found) {
      stream_ = nullptr;
      if (!parts_[part_].path.empty()) parts_[part_].file.reset();
      ++part_;
      continue;
    }
    if (!may_describe(record.type)) return true;
    P2D_ASSIGN(const bool described, describe(record, *stream_));
    if (!described) return true;
  }
  return false;
}

Error Recording::in_part(Error error) const {
  if (part_ >= parts_.size() || parts_[part_].path.empty()) return error;
  return in_file(parts_[part_].path, std::move(error));
}

std::uint64_t Recording::position() const {
  if (part_ >= parts_.size() && size_ != 0) return size_;
  const Part& part = parts_[std::min(part_, parts_.size() - 1)];
  return part.before + (part.stream ? part.stream->offset() - part.begin : 0);
}

std::vector<std::string> Recording::warnings() const {
  auto lines = warnings_;
  for (const Part& part : parts_) {
    if (!part.stream || !part.stream->leftover()) continue;
    const auto& leftover = *part.stream->leftover();
    const auto of_file =
        part.path.empty() ? "" : fmt::format(" of {}", fs::path(part.path).filename().string());
    lines.push_back(fmt::format(
        "the last {} bytes{}, from offset {:#x} on, are no records: the recording was cut off, or "
        "something was appended to it",
        leftover.size, of_file, leftover.offset));
  }
  return lines;
}

bool Recording::is_same_file(const std::string& path) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    std::error_code ignored;
    return part.file ? part.file->is_same_file(path) : fs::equivalent(part.path, path, ignored);
  });
}

}  // namespace perf2dat::perfdata
