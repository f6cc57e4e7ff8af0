#include <epsflow/io/write/csv_writer.hpp>

#include <string>
#include <string_view>

#include "io/io_test.hpp"

namespace epsflow::io::test {
namespace {

struct Sink {
  std::string text;
  void write(std::string_view part) { text += part; }
};

}  // namespace

TEST_CASE("csv writer: quotes where a reader would take a field for something else") {
  Sink sink;
  CsvWriter csv(sink);
  for (const char* field : {"plain", "a,b", "say \"x\"", "two\nlines", "a;b", "#3", ""}) csv.text(field);
  csv.text("kept", true);
  csv.end_row();
  csv.text(" #1");
  csv.nothing();
  csv.end_row();
  csv.flush();
  CHECK(sink.text == "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",a;b,#3,,\"kept\"\n\" #1\",\n");
}

TEST_CASE("csv writer: numbers read back as they were, also with another delimiter") {
  Sink sink;
  CsvWriter csv(sink, ';');
  csv.number(0.1);
  csv.number(0.1F);
  csv.number(-1e300);
  csv.number(-7);
  csv.text("a,b");
  csv.text("a;b");
  csv.end_row();
  csv.flush();
  CHECK(sink.text == "0.1;0.1;-1e+300;-7;a,b;\"a;b\"\n");
}

}  // namespace epsflow::io::test
