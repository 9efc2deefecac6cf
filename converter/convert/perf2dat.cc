// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's boundary: nothing is thrown across it.
#include "perf2dat/perf2dat.h"

#include <exception>
#include <new>

#include "convert/conversion.h"

namespace perf2dat {

Expected<Summary> convert(const Options& options) noexcept {
  try {
    return run_conversion(options);
  } catch (const std::bad_alloc&) {
    return tl::unexpected(Error{Error::Kind::kInternal, "out of memory"});
  } catch (const std::exception& exception) {
    return tl::unexpected(Error{Error::Kind::kInternal, exception.what()});
  } catch (...) {
    return tl::unexpected(Error{Error::Kind::kInternal, "an unknown exception"});
  }
}

const char* version() noexcept { return PERF2DAT_VERSION; }

}  // namespace perf2dat
