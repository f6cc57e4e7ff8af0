// Errors of the library: every one says what went wrong, where, and what to do about it.
#pragma once

#include <cstdint>
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
  /// Of a memory budget. what: in words, without the remedy. needed: the least budget that has room for this; more may be needed later.
  ResourceError(const std::string& what, std::uint64_t needed);
  /// The same error of a memory budget with one that is enough for all that follows.
  [[nodiscard]] ResourceError with(std::uint64_t enough) const;

  /// Bytes; 0 if the error is not about a memory budget.
  [[nodiscard]] std::uint64_t needed_memory() const noexcept { return needed_; }

 private:
  ResourceError(const std::string& what, const std::string& remedy, std::uint64_t needed);

  std::string what_;
  std::uint64_t needed_ = 0;
};

/// The caller's CancelToken was set. What had been handed out before stays valid.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled on request; results handed out before this are complete and valid") {}
};

}  // namespace epsflow
