#include <epsflow/io/labelled_copy.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "io/io_test.hpp"

#include <epsflow/io/read/format.hpp>

namespace epsflow::io::test {
namespace {

struct Copied {
  std::filesystem::path file;
  std::string limit;
  std::string left_out;
  FilePoints points;
};

/// Reads the files and writes them with labels to `name`.
Copied copy(const TempFolder& folder, const Paths& files, const std::string& name, const ReadOptions& options = {},
            bool core = false) {
  Copied copied{folder / name, {}, {}, read_points(files, options)};
  const OutputFormat format = output_format(copied.file, kTableFormats);
  const LabelledCopy labelled(files, options, copied.points, format, {.core = core});
  copied.limit = labelled.limit();
  copied.left_out = labelled.left_out();
  labelled.write(copied.file, result_of(copied.points), Overwrite::replace);
  return copied;
}

/// Returns the text of the E with which the files are refused.
template <class E = InputError>
std::string refusal_of(const TempFolder& folder, const Paths& files, const std::string& name,
                       const ReadOptions& options = {}, bool core = false) {
  return error_of<E>([&] { copy(folder, files, name, options, core); });
}

std::string copied_text(const std::string& text, const ReadOptions& options = {}, bool core = false) {
  const TempFolder folder;
  const Copied copied = copy(folder, {folder.write("in.txt", text)}, "out.csv", options, core);
  CHECK(copied.limit.empty());
  return bytes_of_file(copied.file);
}

}  // namespace

TEST_CASE("labelled copy: fields of CSV stay as they are, and what is no row is left out") {
  const ReadOptions options{.columns = {"x"}, .on_nan = NanPolicy::drop};
  CHECK(
      copied_text("# about\nname,x,note\n\"a, \"\"b\"\"\",1, padded \n\nc,nan,\"two\nlines\"\n# more\nd, 2 ,5\" disc\n",
                  options, true) ==
      "name,x,note,label,core\n\"a, \"\"b\"\"\",1, padded ,0,0\nc,nan,\"two\nlines\",,\nd, 2 ,\"5\"\" disc\",-1,1\n");
  CHECK(copied_text("x,u\nm,s\n1,2\n3,4\n", options) == "x,u,label\n1,2,0\n3,4,-1\n");
  CHECK(copied_text("name,x\r\na,1\r\nb,2", options) == "name,x,label\na,1,0\nb,2,-1\n");
  CHECK(copied_text("name,x\ra,1\rb,2\r", options) == "name,x,label\na,1,0\nb,2,-1\n");
  CHECK(copied_text("\xEF\xBB\xBFname,x\na,1\n\"#b\",2\n", options) == "name,x,label\na,1,0\n\"#b\",2,-1\n");
}

TEST_CASE("labelled copy: weights are a column like others, or left out with all but the coordinates") {
  const ReadOptions options{.weight = "w", .on_nan = NanPolicy::drop};
  CHECK(copied_text("x,w\n1,0.50\n2,\n3,4\n", options) == "x,w,label\n1,0.50,0\n2,,\n3,4,-1\n");
  const TempFolder folder;
  const auto in = folder.write("in.csv", "w,x\n1,1\nnan,2\n3,3\n");
  if (!has_format("HDF5")) return;
  const Copied copied = copy(folder, {in}, "out.h5", options);
  CHECK(values_of(read_points(copied.file, {.columns = {"row", "x", "label"}})) == Values{0, 1, 0, 2, 3, -1});
}

TEST_CASE("labelled copy: other delimiters become commas, and decimal commas keep a semicolon") {
  const ReadOptions options{.columns = {"1"}};
  CHECK(copied_text("a b\t1\nc,d\t2\n", options) == "x0,x1,label\na b,1,0\n\"c,d\",2,-1\n");
  CHECK(copied_text("  a   1  \nb 2\n", options) == "x0,x1,label\na,1,0\nb,2,-1\n");
  CHECK(copied_text("| n | v |\n|---|---|\n| a | 1 |\n| b | 2 |\n", options) == "n,v,label\na,1,0\nb,2,-1\n");
  CHECK(copied_text("# n v\na 1\nb 2\n", options) == "n,v,label\na,1,0\nb,2,-1\n");
  CHECK(copied_text("n;v\na;1,5\nb;2,5\n", {.columns = {"v"}, .text = {.decimal = ','}}) ==
        "n;v;label\na;1,5;0\nb;2,5;-1\n");
  CHECK(copied_text("skipped\nid,x\n1,1\n", {.text = {.skip_rows = 1}}) == "id,x,label\n1,1,0\n");
}

TEST_CASE("labelled copy: rows that begin like a comment are copied, and lines below the names are not") {
  const ReadOptions drop{.on_nan = NanPolicy::drop};
  CHECK(copied_text("x,y\n1,2\n#DIV/0!,3\n#3,4\n4,5\n#N/A,#N/A\n6,7\n", drop) ==
        "x,y,label\n1,2,0\n\"#DIV/0!\",3,\n4,5,-1\n\"#N/A\",#N/A,\n6,7,2\n");
  CHECK(copied_text("n\tx\n\tdeg\n----\t----\na\t1\nb\t2\n", {.columns = {"x"}}) == "n,x,label\na,1,0\nb,2,-1\n");
  CHECK(copied_text("| x | y |\n|---|---|\n| 1 | 2 |\n| --- | --- |\n| 3 | 4 |\n", drop) ==
        "x,y,label\n1,2,0\n---,---,\n3,4,-1\n");
}

TEST_CASE("labelled copy: more text than a block holds, with quotes across the blocks") {
  std::string text = "name,x\n";
  std::string expected = "name,x,label\n";
  for (int i = 0; i < 60'000; ++i) {
    const std::string row = "\"row\n" + std::string(static_cast<std::size_t>(i % 71), 'x') + "\"," + std::to_string(i);
    text += row + "\n";
    expected += row + "," + (i == 1 ? "-1" : std::to_string(i)) + "\n";
  }
  CHECK(copied_text(text, {.columns = {"x"}}) == expected);
  const TempFolder folder;
  const Copied copied = copy(folder, {folder.write("in.csv.gz", gzip(text))}, "out.csv", {.columns = {"x"}});
  CHECK(copied.limit.empty());
  CHECK(bytes_of_file(copied.file) == expected);
}

TEST_CASE("labelled copy: lines before the rows are left out, and told") {
  const TempFolder folder;
  const auto left_out = [&](const char* text) {
    return copy(folder, {folder.write("in.csv", text)}, "out.csv", {.columns = {"x"}}).left_out;
  };
  CHECK(left_out("# of last night\nid,x\n,deg\na,0\n") == "2 lines before the rows, as comments and units");
  CHECK(left_out("id,x\na,0\n").empty());
}

TEST_CASE("labelled copy: a row as long as reading takes is copied") {
  std::string text = "name,x\na,1\nb,2\n";
  text += std::string(3'000'000, 'c') + ",3\n";
  for (int i = 0; i < 100; ++i) text += std::string(30'000, 'd') + ",4\n";
  const std::string copied = copied_text(text, {.columns = {"x"}});
  CHECK(copied.substr(0, 15) == "name,x,label\na,");
  CHECK(std::count(copied.begin(), copied.end(), '\n') == 104);
  CHECK(copied.size() > text.size() + 200);
}

TEST_CASE("labelled copy: text files follow each other") {
  const TempFolder folder;
  const auto first = folder.write("a.csv", "n,x\na,1\nb,nan\n");
  const auto second = folder.write("b.csv", "n,x\n\"c\",3\n");
  const ReadOptions options{.columns = {"1"}, .on_nan = NanPolicy::drop};
  const std::string expected = "n,x,label\na,1,0\nb,nan,\n\"c\",3,-1\n";
  CHECK(bytes_of_file(copy(folder, {first, second}, "out.csv", options).file) == expected);
  const auto bare = folder.write("c.csv", "\"c\",3\n");  // the program split leaves the second half of a file like this
  CHECK(bytes_of_file(copy(folder, {first, bare}, "out.csv", options).file) == expected);
  const auto other = folder.write("d.csv", "m,x\nd,4\n");
  check_mentions(refusal_of(folder, {first, other}, "out.csv", options),
                 {"a.csv", "d.csv", "different columns", "the same"});
  const auto turned = folder.write("t.csv", "x,n\n4,d\n");
  check_mentions(refusal_of(folder, {first, turned}, "out.csv", {.columns = {"x"}, .on_nan = NanPolicy::drop}),
                 {"a.csv", "t.csv", "different columns"});
  const auto wider = folder.write("e.csv", "n,x,z\nd,4,5\n");
  check_mentions(refusal_of(folder, {first, wider}, "out.csv", options), {"different columns"});
}

TEST_CASE("labelled copy: contents tell the columns and the rows of the same points") {
  const auto contents = [](const std::string& text, OutputFormat format) {
    const TempFolder folder;
    const Paths files{folder.write("in.csv", text)};
    const ReadOptions options{.on_nan = NanPolicy::drop};
    const FilePoints points = read_points(files, options);
    return LabelledCopy(files, options, points, format, {}).contents();
  };
  CHECK(contents("lon,lat\n1,2\n", OutputFormat::hdf5) != contents("lat,lon\n1,2\n", OutputFormat::hdf5));
  for (const OutputFormat format : {OutputFormat::hdf5, OutputFormat::fits}) {
    const std::string first = contents("lon,lat\nnan,1\n1,2\n3,4\n", format);
    CHECK(first == contents("lon,lat\n5,nan\n1,2\n3,4\n", format));
    CHECK(first != contents("lon,lat\n1,2\nnan,1\n3,4\n", format));
    CHECK(first != contents("lon,lat\n1,2\n3,4\n", format));
  }
}

TEST_CASE("labelled copy: coordinates where the kinds differ") {
  const TempFolder folder;
  const std::vector<float> values{0.1F, 1, 2, 3, 4, 5};
  const auto npy = folder / "p.npy";
  write_points(npy, PointsView(std::span(values), 2), {}, Overwrite::refuse);
  for (const char* name : {"out.csv", "out.fits", "out.h5", "out.parquet"}) {
    if (name == std::string("out.parquet") && !has_format("Parquet")) continue;
    INFO(name);
    const Copied copied = copy(folder, {npy}, name, {}, true);
    check_mentions(copied.limit, {"from text to CSV and from FITS to FITS only"});
    const FilePoints back = read_points(copied.file, {.columns = {"x0", "x1"}});
    const Values widened(values.begin(), values.end());
    if (name != std::string("out.csv")) {
      CHECK(values_of(back) == widened);
      CHECK(back.precision() == Precision::float32);
    }
    CHECK(values_of(read_points(copied.file, {.columns = {"label"}})) == Values{0, -1, 2});
    CHECK(values_of(read_points(copied.file, {.columns = {"core"}})) == Values{0, 1, 0});
    CHECK(refusal(copied.file, {.columns = {"row"}}).size() > 0);
  }
  CHECK(bytes_of_file(folder / "out.csv") == "x0,x1,label,core\n0.1,1,0,0\n2,3,-1,1\n4,5,2,0\n");
}

TEST_CASE("labelled copy: rows are told where some were dropped or files joined") {
  const TempFolder folder;
  const auto first = folder.write("a.csv", "n,ra,dec\na,0.1,1\nb,,2\n");
  const auto second = folder.write("b.csv", "n,ra,dec\nc,0.30000000000000004,3\n");
  const ReadOptions options{.columns = {"dec", "ra"}, .on_nan = NanPolicy::drop};
  for (const char* name : {"out.fits", "out.h5"}) {
    INFO(name);
    const Copied copied = copy(folder, {first, second}, name, options);
    CHECK(values_of(read_points(copied.file, {.columns = {"row", "dec", "ra", "label"}})) ==
          Values{0, 1, 0.1, 0, 2, 3, 0.30000000000000004, -1});
  }
}

TEST_CASE("labelled copy: names that are taken, or that a format cannot have") {
  const TempFolder folder;
  const auto labelled = folder.write("l.csv", "x,label\n1,2\n");
  check_mentions(refusal_of(folder, {labelled}, "out.csv"), {"l.csv", "'label'", "rename"});
  const auto core = folder.write("c.csv", "x,core\n1,2\n");
  CHECK(bytes_of_file(copy(folder, {core}, "out.csv").file) == "x,core,label\n1,2,0\n");
  check_mentions(refusal_of(folder, {core}, "out.csv", {}, true), {"'core'"});
  const auto row = folder.write("r.csv", "row,x\n1,2\n,3\n");
  check_mentions(refusal_of(folder, {row}, "out.h5", {.on_nan = NanPolicy::drop}), {"'row'"});
  const auto upper = folder.write("u.csv", "LABEL,x,X\n1,2,3\n");
  check_mentions(refusal_of(folder, {upper}, "out.fits"), {"'LABEL'"});
  check_mentions(refusal_of(folder, {upper}, "out.fits", {.columns = {"1", "2"}}), {"two coordinates 'X'", ".csv"});
  copy(folder, {upper}, "out.h5");
  const auto umlaut = folder.write("v.csv", "L\u00e4nge,x\n1,2\n");
  check_mentions(refusal_of<UsageError>(folder, {umlaut}, "out.fits"), {"L\u00e4nge", ".csv or .h5"});
  CHECK(values_of(read_points(copy(folder, {umlaut}, "out.h5").file, {.columns = {"L\u00e4nge"}})) == Values{1});
  std::string wide = "1";
  for (int i = 1; i < 1000; ++i) wide += "," + std::to_string(i);
  const auto many = folder.write("m.csv", wide + "\n" + wide + "\n");
  check_mentions(refusal_of<UsageError>(folder, {many}, "out.fits"), {"1,000 coordinates", ".csv"});
  check_mentions(refusal_of<UsageError>(folder, {many}, "out.h5"), {"1,000 coordinates", ".csv"});
  const auto fewer = folder.write("f.csv", wide.substr(0, wide.find(",780")) + "\n");
  copy(folder, {fewer}, "out.h5");
}

TEST_CASE("labelled copy: a file that has changed since is found out") {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "x\n1\n2\n3\n");
  const auto time = std::filesystem::last_write_time(file);
  FilePoints points = read_points(file);
  const LabelledCopy labelled({file}, {}, points, OutputFormat::csv, {});
  CHECK(labelled.bytes() == 8 + 3 * 5);
  CHECK(LabelledCopy({file}, {}, points, OutputFormat::csv, {.probability = true}).bytes() == 8 + 3 * (5 + 18));
  const auto fails = [&](const char* text, bool shows) {
    folder.write("a.csv", text);
    std::filesystem::last_write_time(file, time);
    if (!shows) points.inputs[0].stamp = stamp_of(file);
    check_error<InputError>({"a.csv", "has changed since it was read", "run again"},
                            [&] { labelled.write(folder / "out.csv", result_of(points), Overwrite::refuse); });
    CHECK_FALSE(std::filesystem::exists(folder / "out.csv"));
  };
  fails("x\n3\n2\n1\n4\n", true);
  fails("x\n3\n2\n1\n", true);    // the size and the time have not changed
  fails("x\n1\n234\n", false);    // the same number of bytes has fewer rows
  fails("1\n2\n3\n4\n", false);   // the header is missing
  fails("x\n1\n2\n\"\n", false);  // the quote stays open
  folder.write("a.csv", "x\n1\n2\n3\n");
  points.inputs[0].stamp = stamp_of(file);
  labelled.write(folder / "out.csv", result_of(points), Overwrite::refuse);
  CHECK(files_in(folder / "") == 2);
  error_of<UsageError>([&] { labelled.write(folder / "out.csv", result_of(points), Overwrite::refuse); });
}

TEST_CASE("labelled copy: a file that changed while another was read") {
  const TempFolder folder;
  const Paths files{folder.write("a.csv", "n,x\na,1\nb,2\n"), folder.write("b.csv", "n,x\nc,3\n")};
  const ReadOptions options{.columns = {"x"}};
  const FilePoints points = read_points(files, options);
  folder.write("a.csv", "n,x\nb,2\na,1\n");
  check_error<InputError>({"a.csv", "has changed since it was read", "run again"},
                          [&] { LabelledCopy(files, options, points, OutputFormat::csv, {}); });
}

TEST_CASE("labelled copy: formats that it has not, and points of other files") {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "x\n1\n2\n");
  const FilePoints points = read_points(file);
  error_of<UsageError>([&] { LabelledCopy({file}, {}, points, OutputFormat::npy, {}); });
  const LabelledCopy copy({file}, {}, points, OutputFormat::csv, {.probability = true});
  error_of<UsageError>([&] { copy.write(folder / "out.csv", result_of(points), Overwrite::refuse); });
  error_of<UsageError>([&] { LabelledCopy({file, file}, {}, points, OutputFormat::csv, {}); });
}

}  // namespace epsflow::io::test
