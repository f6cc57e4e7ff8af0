#pragma once

#include <string>
#include <vector>

#include <epsflow/io/checksum.hpp>

namespace epsflow::io::test {

/// Values that are not numbers, and numbers that are not valid counts.
inline const std::vector<std::string> kNoCounts{"\"169\"",
                                                "null",
                                                "true",
                                                "[169]",
                                                "[[[169]]]",
                                                "{}",
                                                "2.5",
                                                "-1",
                                                "1e61",
                                                "-1e61",
                                                "18446744073709551615",
                                                "18446744073709551616",
                                                "1" + std::string(60, '3')};

/// Returns a line of a journal, whose checksum is right.
inline std::string journal_line(const std::string& event) {
  Checksum checksum;
  checksum.add(event);
  return event + " " + format_checksum(checksum.value()) + "\n";
}

}  // namespace epsflow::io::test
