// SPDX-License-Identifier: LGPL-2.1-or-later
// The command perf2dat: options in, lines and an exit status out. All work is the library's.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <string>

#include "command/messages.h"
#include "command/progress_bar.h"
#include "perf2dat/perf2dat.h"

namespace {

using perf2dat::Error;

enum ExitStatus : int {
  kConverted = 0,
  kBadInput = 1,
  kBadUsage = 2,
  kBadOutput = 3,
  kCheckFailed = 4,
  kInternalError = 5,
  kInterrupted = 130,  // what a shell reports of a command that SIGINT ended
};

ExitStatus status_of(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::kInput:
      return kBadInput;
    case Error::Kind::kUsage:
      return kBadUsage;
    case Error::Kind::kOutput:
      return kBadOutput;
    case Error::Kind::kCheck:
      return kCheckFailed;
    case Error::Kind::kCancelled:
      return kInterrupted;
    case Error::Kind::kInternal:
      break;
  }
  return kInternalError;
}

volatile std::sig_atomic_t interrupted = 0;

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  // Whoever started the command may have told it to ignore the signal, as nohup does.
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(signal, &action, nullptr);
}

bool is_stream(const std::string& input) {
  struct stat status {};
  const int result = input == "-" ? fstat(STDIN_FILENO, &status) : stat(input.c_str(), &status);
  return result == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// Ctrl-C ends `perf record -o - | perf2dat -i -` by ending perf: the stream then ends as it should,
// and what was recorded is converted. The second Ctrl-C ends the command at once, and so does any
// other signal, since it may wait for a stream that says nothing. The output has no name until it
// is complete, where the file system knows files without one, so nothing is left.
void handle_signals(const std::string& input) {
  std::signal(SIGPIPE, SIG_IGN);  // nobody reads what it says: no reason to stop
  std::signal(SIGXFSZ, SIG_IGN);  // the error that comes instead is reported
  if (is_stream(input)) {
    handle(SIGINT, [](int) {});
    return;
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    handle(signal, [](int) { interrupted = 1; });
  }
}

/// A line on standard error. Whether anybody reads it is not the conversion's matter.
void print_line(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

struct Arguments {
  perf2dat::Options convert;
  bool verbose = false;
  bool quiet = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  auto& convert = arguments.convert;
  auto* const input = app.add_option("-i,--input", convert.input,
                                     "The recording to read, - for standard input [perf.data]")
                          ->option_text("FILE");
  auto* const output =
      app.add_option("-o,--output,--to-trace-dat", convert.output, "The file to write [trace.dat]");
  app.add_option("IN", convert.input, "The recording to read, as -i")->excludes(input);
  app.add_option("OUT", convert.output, "The file to write, as -o")->excludes(output);
  app.add_flag("-f,--force", convert.overwrite, "Replace an output that exists");
  app.add_option("--time", convert.time,
                 "Only events in windows of time, as perf script --time: START,STOP or 10%/2 or "
                 "0%-10%")
      ->option_text("WINDOWS");
  app.add_option("--tracing-dir", convert.tracing_dir,
                 "Event formats for a recording that lacks them: a copy of /sys/kernel/tracing")
      ->option_text("DIR");
  app.add_flag("--check", convert.check,
               "Read the output again and compare its events with the recording's");
  auto* const verbose =
      app.add_flag("-v,--verbose", arguments.verbose, "Tell more")->option_text(" ");
  app.add_flag("-q,--quiet", arguments.quiet, "Print errors only")
      ->option_text(" ")
      ->excludes(verbose);
  app.set_version_flag("--version", fmt::format("perf2dat {}", perf2dat::version()));
  app.get_formatter()->column_width(34);
  app.footer(
      "Exit status: 0 converted, 1 the recording can't be converted, 2 wrong usage,\n"
      "3 the output can't be written, 4 --check found a difference, 5 internal error.\n"
      "Open the result with trace-cmd report -i trace.dat, or kernelshark trace.dat.");
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Converts tracepoints recorded by perf record to trace-cmd's trace.dat", "perf2dat");
  try {
    declare(app, arguments);
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::Error& error) {
    print_line(fmt::format("perf2dat: {} (see perf2dat --help)", error.what()));
    return kBadUsage;
  }

  handle_signals(arguments.convert.input);
  perf2dat::command::ProgressBar bar(!arguments.quiet && isatty(STDERR_FILENO) == 1);
  arguments.convert.progress = [&](std::uint64_t done, std::uint64_t total) {
    bar.show(done, total);
    return interrupted == 0;
  };
  const auto summary = perf2dat::convert(arguments.convert);
  bar.clear();
  if (!summary) {
    print_line(fmt::format("perf2dat: {}", summary.error().message));
    return status_of(summary.error().kind);
  }
  if (!arguments.quiet) {
    for (const auto& line :
         perf2dat::command::lines_of(arguments.convert, *summary, arguments.verbose)) {
      print_line(line);
    }
  }
  return kConverted;
}
