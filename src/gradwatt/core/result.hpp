// How expected failure travels: Result<T> holds a T or an Error with a sentence for the user.
// A bug asserts; exceptions of third-party libraries are caught at the wall of the folder that calls them.
#pragma once

#include <source_location>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gradwatt::core {

/// What kind of failure it is; apps map it to the exit status that DESIGN fixes for scripts.
enum class Errc {
  wrong_use,       ///< the user asked for something that makes no sense: exit status 2
  unusable_input,  ///< a file or value cannot be read as what it should be: 3
  not_permitted,   ///< the right is missing: 4
  not_supported,   ///< this machine or driver cannot: 4
  not_found,       ///< file, device or run does not exist
  io,              ///< the operating system failed: disk full, broken pipe
  timeout,         ///< a call did not come back in time
  lost,            ///< a device is gone for the rest of the run
};

struct Error {
  Errc code = Errc::io;
  std::string message;  ///< one sentence: what was tried, with which values, and what the user can do
  std::source_location where = std::source_location::current();
};

template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(Errc::io, "cannot open …");` in any function that returns a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string message,
                                                std::source_location where = std::source_location::current()) {
  return tl::unexpected<Error>(Error{code, std::move(message), where});
}

/// Passes another function's error on.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace gradwatt::core
