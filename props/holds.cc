// SPDX-License-Identifier: LGPL-2.1-or-later
#include "holds.h"

#include <gtest/gtest.h>
#include <rapidcheck/detail/Configuration.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace perf2dat::props {
namespace {

/// The command that makes the failed case again.
std::string reproducer(const rc::detail::FailureResult& failure, const std::string& id) {
  rc::detail::Configuration configuration;
  configuration.reproduce[id] = failure.reproduce;
  return "RC_PARAMS='" + rc::detail::configToMinimalString(configuration) + "' " +
         ::testing::internal::GetArgvs().front() + " --gtest_filter=" + id;
}

int cases_with(const rc::detail::Distribution& distribution, std::string_view edge) {
  const std::string tag = rc::toString(std::string(edge));
  int cases = 0;
  for (const auto& [tags, count] : distribution) {
    if (std::find(tags.begin(), tags.end(), tag) != tags.end()) cases += count;
  }
  return cases;
}

/// Whether RC_PARAMS says how many cases there are to be. Without it, or with other parameters
/// only, rapidcheck would have a number of its own.
bool names_max_success() {
  const char* const params = std::getenv("RC_PARAMS");
  return params != nullptr &&
         std::string_view(params).find("max_success") != std::string_view::npos;
}

}  // namespace

void holds(const rc::detail::Property& property, const std::vector<std::string_view>& edges) {
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(test->test_suite_name()) + "." + test->name();
  const auto& configuration = rc::detail::configuration();
  rc::detail::TestParams params = configuration.testParams;
  if (!names_max_success()) params.maxSuccess = kCases;
  rc::detail::TestListenerAdapter quiet;
  const auto result =
      rc::detail::checkProperty(property, metadata, params, quiet, configuration.reproduce);

  if (!result.is<rc::detail::SuccessResult>()) {
    std::ostringstream message;
    rc::detail::printResultMessage(result, message);
    if (result.is<rc::detail::FailureResult>()) {
      message << "\n\nTo see it again:\n"
              << reproducer(result.get<rc::detail::FailureResult>(), metadata.id);
    }
    FAIL() << message.str();
  }
  const auto& success = result.get<rc::detail::SuccessResult>();
  std::cout << metadata.id << ": " << success.numSuccess << " cases";
  for (const std::string_view edge : edges) {
    const int cases = cases_with(success.distribution, edge);
    std::cout << "; " << edge << ' ' << cases;
    if (success.numSuccess >= kCases) {
      EXPECT_GE(cases * 100, success.numSuccess) << "the edge is hardly met: " << edge;
    }
  }
  std::cout << '\n';
}

}  // namespace perf2dat::props
