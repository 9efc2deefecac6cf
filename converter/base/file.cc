// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

namespace perf2dat {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::error_code(errno, std::generic_category()).message(); }

// The kernel's limit for one call is a little under 2 GiB; a signal may shorten any call.
template <typename Call>
Expected<std::size_t> repeat(Call call, std::size_t size, std::string_view failed,
                             Error::Kind kind) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = call(done, size - done);
    if (count < 0) {
      if (errno == EINTR) continue;
      return Failure(Error{kind, fmt::format("{}: {}", failed, reason())});
    }
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

Expected<std::size_t> read_fully(int fd, std::uint64_t offset, std::span<std::byte> into,
                                 std::string_view failed, Error::Kind kind) {
  return repeat(
      [&](std::size_t done, std::size_t left) {
        return ::pread(fd, into.data() + done, left, static_cast<off_t>(offset + done));
      },
      into.size(), failed, kind);
}

Expected<void> write_fully(int fd, std::uint64_t offset, std::span<const std::byte> bytes,
                           std::string_view failed) {
  P2D_ASSIGN(const std::size_t done, repeat(
                                         [&](std::size_t done, std::size_t left) {
                                           return ::pwrite(fd, bytes.data() + done, left,
                                                           static_cast<off_t>(offset + done));
                                         },
                                         bytes.size(), failed, Error::Kind::kOutput));
  if (done < bytes.size()) return output_error("{}: no space", failed);
  return {};
}

fs::path directory_of(const std::string& path) {
  auto directory = fs::path(path).parent_path();
  return directory.empty() ? fs::path(".") : directory;
}

/// Where a chain of symbolic links ends, also when nothing is there.
Expected<std::string> resolve_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  fs::path target = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(target, error))) return target.string();
    const auto next = fs::read_symlink(target, error);
    if (error) return output_error("cannot write it: {}", error.message());
    target = target.parent_path() / next;
  }
  return output_error("cannot write it: {}", std::generic_category().message(ELOOP));
}

std::string random_suffix() {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> pick(0, kLetters.size() - 1);
  std::string suffix(8, ' ');
  for (char& letter : suffix) letter = kLetters[pick(random)];
  return suffix;
}

/// A name beside `path`. The file's own name is no part of it: that may be as long as any can be.
std::string temporary_name(const std::string& path) {
  return (directory_of(path) / (".perf2dat." + random_suffix())).string();
}

Failure exists_already() { return output_error("it exists: use --force to replace it"); }

// The command's own name of a file in /proc: linkat() from there needs no privilege.
std::string proc_name(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

// O_TMPFILE is not known to every file system (NFS, old overlays).
bool lacks_unnamed_files(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == ENOENT || error == EINVAL;
}

/// Whom the file at `path` is kept from, the new one is, too: where a group cannot be kept, or an
/// access list tells who may read it, it is its owner's alone. Without a file there nothing is
/// done.
Expected<void> take_access_of(const std::string& path, int fd) {
  constexpr auto kAccessList = "system.posix_acl_access";
  struct stat old {};
  struct stat mine {};
  if (::stat(path.c_str(), &old) != 0) return {};
  if (::fstat(fd, &mine) != 0) return output_error("cannot write it: {}", reason());
  ::fremovexattr(fd, kAccessList);  // which the directory may have given it
  const bool keeps_group =
      mine.st_gid == old.st_gid || ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) == 0;
  const bool has_list = ::getxattr(path.c_str(), kAccessList, nullptr, 0) > 0;
  const mode_t kept = keeps_group && !has_list ? 0777U : 0700U;
  if (::fchmod(fd, old.st_mode & kept) != 0) return output_error("cannot write it: {}", reason());
  return {};
}

Expected<FileDescriptor> open_with(const std::string& path, int flags) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (!fd.valid()) {
    return input_error("cannot open it: {}{}", reason(),
                       errno == ENOENT ? " (perf record writes one)" : "");
  }
  return fd;
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& from) noexcept {
  if (this != &from) {
    reset();
    fd_ = std::exchange(from.fd_, -1);
  }
  return *this;
}

void FileDescriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Expected<FileDescriptor> open_for_reading(const std::string& path) { return open_with(path, 0); }

bool is_regular_file(const FileDescriptor& fd) {
  struct stat status {};
  return ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
}

Expected<InputFile> InputFile::open(const std::string& path) {
  // A FIFO is no regular file, and would wait here for somebody to write.
  P2D_ASSIGN(auto fd, open_with(path, O_NONBLOCK));
  return adopt(std::move(fd));
}

Expected<InputFile> InputFile::adopt(FileDescriptor fd) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return input_error("cannot read it: {}", reason());
  if (!S_ISREG(status.st_mode)) return input_error("it is not a regular file");
  return InputFile(std::move(fd), static_cast<std::uint64_t>(status.st_size));
}

bool InputFile::is_same_file(const std::string& path) const {
  struct stat mine {};
  struct stat theirs {};
  return ::fstat(fd_.get(), &mine) == 0 && ::stat(path.c_str(), &theirs) == 0 &&
         mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

Expected<std::size_t> InputFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  return read_fully(fd_.get(), offset, into, "cannot read it", Error::Kind::kInput);
}

Expected<std::vector<std::byte>> InputFile::read_exactly(std::uint64_t offset, std::uint64_t size,
                                                         std::string_view what) const {
  if (offset > size_ || size > size_ - offset) {
    return input_error(
        "{} should have {} bytes from {:#x} on, but the file ends at offset {:#x}: "
        "it is truncated or damaged",
        what, size, offset, size_);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  P2D_ASSIGN(const std::size_t done, read_at(offset, bytes));
  if (done < bytes.size()) {
    return input_error("{} ends at offset {:#x}: the file became shorter while it was read", what,
                       offset + done);
  }
  return bytes;
}

Expected<ScratchFile> ScratchFile::create_beside(const std::string& neighbour) {
  const auto directory = directory_of(neighbour);
  FileDescriptor fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd.valid() && lacks_unnamed_files(errno)) {
    auto name = (directory / ".perf2dat.XXXXXX").string();
    fd = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (fd.valid()) ::unlink(name.c_str());
  }
  if (!fd.valid()) {
    return output_error("cannot create a scratch file in '{}': {}", directory.string(), reason());
  }
  return ScratchFile(std::move(fd));
}

Expected<std::uint64_t> ScratchFile::append(std::span<const std::byte> bytes) {
  P2D_TRY(write_fully(fd_.get(), size_, bytes, "cannot write a scratch file beside the output"));
  return std::exchange(size_, size_ + bytes.size());
}

Expected<void> ScratchFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  P2D_ASSIGN(
      const std::size_t done,
      read_fully(fd_.get(), offset, into, "cannot read the scratch file", Error::Kind::kOutput));
  if (done < into.size()) return output_error("the scratch file beside the output became shorter");
  return {};
}

Expected<OutputFile> OutputFile::create(const std::string& path, bool overwrite) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      return output_error("it exists and is not a regular file: name another output");
    }
    if (!overwrite) return exists_already();
  } else if (errno != ENOENT || path.empty()) {
    return output_error("cannot write it: {}", reason());
  }
  P2D_ASSIGN(std::string target, resolve_links(path));
  OutputFile file(std::move(target), overwrite);
  P2D_TRY(file.open_beside());
  return file;
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Expected<void> OutputFile::open_beside() {
  const auto directory = directory_of(path_);
  // Who may read the file that it replaces is settled before others may open it.
  struct stat ignored {};
  const mode_t mode = ::stat(path_.c_str(), &ignored) == 0 ? 0600 : 0666;
  fd_ = FileDescriptor(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (!fd_.valid() && lacks_unnamed_files(errno)) {
    temporary_ = temporary_name(path_);
    fd_ = FileDescriptor(
        ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!fd_.valid()) temporary_.clear();
  }
  if (!fd_.valid()) return output_error("cannot write it: {}", reason());
  return {};
}

Expected<void> OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  return write_fully(fd_.get(), offset, bytes, "cannot write it");
}

Expected<void> OutputFile::copy_from(const ScratchFile& from, std::uint64_t from_offset,
                                     std::uint64_t size, std::uint64_t offset) {
  while (size > 0) {
    auto in = static_cast<off64_t>(from_offset);
    auto out = static_cast<off64_t>(offset);
    const ssize_t count = ::copy_file_range(from.descriptor(), &in, fd_.get(), &out,
                                            static_cast<std::size_t>(size), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const auto copied = static_cast<std::uint64_t>(count);
    size -= copied;
    from_offset += copied;
    offset += copied;
  }
  // Whatever the kernel could not copy for us is copied by hand, which also tells why.
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size, 1U << 20U)));
  while (size > 0) {
    const auto part = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(size, buffer.size())));
    P2D_TRY(from.read_at(from_offset, part));
    P2D_TRY(write_at(offset, part));
    size -= part.size();
    from_offset += part.size();
    offset += part.size();
  }
  return {};
}

Expected<std::size_t> OutputFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  return read_fully(fd_.get(), offset, into, "cannot read it back", Error::Kind::kOutput);
}

Expected<std::uint64_t> OutputFile::size() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return output_error("cannot read it back: {}", reason());
  return static_cast<std::uint64_t>(status.st_size);
}

Expected<void> OutputFile::give_temporary_name() {
  for (int attempt = 0; attempt < 16; ++attempt) {
    auto name = temporary_name(path_);
    if (::linkat(AT_FDCWD, proc_name(fd_.get()).c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return output_error("cannot write it: {}", reason());
}

Expected<void> OutputFile::publish() {
  if (!overwrite_) {
    // Neither call replaces, so a name that somebody has taken meanwhile stays theirs. Not every
    // file system has links, and not every one has this kind of rename.
    if (!temporary_.empty()) {
      if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) ==
          0) {
        temporary_.clear();
        return {};
      }
      if (errno == EEXIST) return exists_already();
    }
    const auto source = temporary_.empty() ? proc_name(fd_.get()) : temporary_;
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return {};
    }
    if (errno == EEXIST) return exists_already();
    return output_error("cannot write it: {}", reason());
  }
  P2D_TRY(take_access_of(path_, fd_.get()));
  if (temporary_.empty()) P2D_TRY(give_temporary_name());
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return output_error("cannot write it: {}", reason());
  }
  temporary_.clear();
  return {};
}

}  // namespace perf2dat
