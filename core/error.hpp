// Errors of the library: every text names the fault, its location and the remedy.
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

/// The machine, or a limit set for it, does not suffice: too little memory, too small a memory budget, a full disk, no
/// permission.
class ResourceError : public Error {
 public:
  using Error::Error;
  /// An error of a memory budget. what: the text without the remedy. needed: a budget, in bytes, that suffices for the
  /// failed step; later steps may need more.
  ResourceError(const std::string& what, std::uint64_t needed);
  /// Returns this error of a memory budget with another remedy: a budget that suffices for all steps, of `enough` or
  /// needed_memory() bytes, whichever is more.
  [[nodiscard]] ResourceError with(std::uint64_t enough) const;

  /// Returns the needed budget in bytes; 0 if the error is not about a memory budget.
  [[nodiscard]] std::uint64_t needed_memory() const noexcept { return needed_; }

 private:
  ResourceError(const std::string& what, const std::string& remedy, std::uint64_t needed);

  std::string what_;
  std::uint64_t needed_ = 0;
};

/// The caller's CancelToken was set. Results that were handed out before stay valid.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled on request; results handed out before this are complete and valid") {}
};

}  // namespace epsflow
