// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/time_windows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace perf2dat {
namespace {

constexpr std::string_view kSpace = " \t";
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::size_t kDecimals = 9;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// The parts between separators that are not blank.
std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find_first_of(separators));
    if (!trim(part).empty()) parts.push_back(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

/// "12.5" is 12,500,000,000 ns.
std::optional<std::uint64_t> parse_seconds(std::string_view text) {
  const auto dot = text.find('.');
  const auto seconds = parse_number<std::uint64_t>(text.substr(0, dot));
  if (!seconds || *seconds > ~0ULL / kSecond - 1) return std::nullopt;
  if (dot == std::string_view::npos) return *seconds * kSecond;
  std::string decimals(text.substr(dot + 1));
  if (decimals.size() > kDecimals) return std::nullopt;
  decimals.resize(kDecimals, '0');
  const auto nanoseconds = parse_number<std::uint64_t>(decimals);
  if (!nanoseconds) return std::nullopt;
  return *seconds * kSecond + *nanoseconds;
}

/// "30%" is 0.3.
std::optional<double> parse_percent(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.back() != '%') return std::nullopt;
  const auto percent = parse_number<double>(text.substr(0, text.size() - 1));
  if (!percent || !(*percent >= 0)) return std::nullopt;
  return *percent / 100;
}

using Window = std::pair<std::uint64_t, std::uint64_t>;

std::optional<Window> parse_window(std::string_view text) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  Window window{0, 0};
  const auto start = text.substr(0, comma);
  const auto stop = text.substr(comma + 1);
  for (const auto& [end, time] : {std::pair{start, &window.first}, {stop, &window.second}}) {
    if (end.empty()) continue;
    const auto parsed = parse_seconds(end);
    if (!parsed) return std::nullopt;
    *time = *parsed;
  }
  if (window.second != 0 && window.second < window.first) return std::nullopt;
  return window;
}

/// From one part of the span to another. Slices that follow each other do not overlap: each but
/// the last ends a nanosecond before the next begins.
std::optional<Window> part_of(TimeSpan span, double from, double to) {
  if (from < 0 || from > 1 || to < 0 || to > 1) return std::nullopt;
  const auto total = static_cast<double>(span.last - span.first);
  const auto place = [&](double part) {
    // A double of 64 bits is not exact for large spans, and must not be rounded beyond them.
    const double offset = std::round(part * total);
    return offset < total ? span.first + static_cast<std::uint64_t>(offset) : span.last;
  };
  Window window{place(from), place(to)};
  if (window.second > window.first && window.second != span.last) --window.second;
  return window;
}

/// '/' for slices like 10%/2, '-' for parts like 0%-10%, '%' for the first percents alone.
char form_of(std::string_view part) {
  const auto sign = part.find_first_of("/-");
  return sign == std::string_view::npos ? '%' : part[sign];
}

/// As in perf, all parts have the same form, and 10% stands alone.
bool fit_together(std::string_view percents) {
  const auto parts = split(percents, ",");
  return parts.size() < 2 || std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
           const char form = form_of(part);
           return form != '%' && form == form_of(parts.front());
         });
}

/// "10%/2", "0%-10%" or "10%".
std::optional<Window> parse_part(std::string_view text, TimeSpan span) {
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto part = parse_percent(text.substr(0, slash));
    const auto number = parse_number<int>(trim(text.substr(slash + 1)));
    if (!part || !number || *part <= 0) return std::nullopt;
    return part_of(span, *part * (*number - 1.0), *part * *number);
  }
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto from = parse_percent(text.substr(0, dash));
    const auto to = parse_percent(text.substr(dash + 1));
    if (!from || !to) return std::nullopt;
    return part_of(span, *from, *to);
  }
  const auto part = parse_percent(text);
  if (!part || *part <= 0) return std::nullopt;
  return part_of(span, 0, *part);
}

Failure wrong(std::string_view text, std::string_view why) {
  return Failure(Error{Error::Kind::kUsage, fmt::format("--time '{}': {}", text, why)});
}

}  // namespace

Expected<TimeWindows> TimeWindows::parse(std::string_view text, std::optional<TimeSpan> recorded) {
  TimeWindows windows;
  const bool percents = text.find('%') != std::string_view::npos;
  if (percents && !recorded) {
    return wrong(text,
                 "the recording does not tell its first and last sample's time, "
                 "so percents mean nothing: give seconds");
  }
  if (percents && !fit_together(text)) {
    return wrong(text, "windows like 10%/2 and 0%-10% do not mix, and 10% stands alone");
  }
  for (const auto part : split(text, percents ? "," : kSpace)) {
    const auto window = percents ? parse_part(trim(part), *recorded) : parse_window(part);
    if (!window) return wrong(text, "no windows like START,STOP or 10%/2 or 0%-10%");
    windows.windows_.push_back({window->first, window->second});
  }
  if (windows.windows_.empty()) return wrong(text, "no windows");
  for (std::size_t i = 1; i < windows.windows_.size() && !percents; ++i) {
    if (windows.windows_[i - 1].stop >= windows.windows_[i].start) {
      return wrong(text, "the windows overlap or do not ascend");
    }
  }
  return windows;
}

bool TimeWindows::contains_in_windows(std::uint64_t time) const {
  // perf selects samples without a time always.
  if (time == 0) return true;
  return std::any_of(windows_.begin(), windows_.end(), [&](const Window& window) {
    return time >= window.start && (window.stop == 0 || time <= window.stop);
  });
}

}  // namespace perf2dat
