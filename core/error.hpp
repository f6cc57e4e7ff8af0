// Errors of the library: every one says what went wrong, where, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace epsflow {

/// Base of every exception that epsflow throws on purpose. The text is complete on its own: it names the culprit (file,
/// row, column, option, value) and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument or option that can never be valid: eps <= 0, minpts < 1, an unknown word.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The data are at fault: a file that is missing, truncated or malformed, a coordinate that is NaN or infinite.
class InputError : public Error {
 public:
  using Error::Error;
};

/// The machine, or a limit set for it, does not suffice: too little memory, too small a memory budget, a full disk, no permission
/// to write.
class ResourceError : public Error {
 public:
  using Error::Error;
};

/// The caller's CancelToken was set. What had been handed out before stays valid.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled on request; results handed out before this are complete and valid") {}
};

}  // namespace epsflow
