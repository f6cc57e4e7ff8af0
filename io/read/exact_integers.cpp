#include <epsflow/io/read/exact_integers.hpp>

#include <fmt/format.h>

#include <epsflow/core/error.hpp>

namespace epsflow::io {

void throw_rounded(const Source& source, const std::string& where, const std::string& column,
                   const std::string& value) {
  throw InputError(
      fmt::format("{}: {}, column {} is {}, an integer beyond 2^53 that float64 does not hold: others would become the "
                  "same coordinate; subtract an offset from the column, or leave it out with ReadOptions::columns",
                  source.name, where, column, value));
}

}  // namespace epsflow::io
