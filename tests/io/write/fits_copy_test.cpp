#include <epsflow/io/labelled_copy.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <fitsio.h>

#include "io/fits_samples.hpp"

#include <epsflow/io/read/format.hpp>

namespace epsflow::io::test {
namespace {

/// Reads a table with cfitsio. Every call must succeed.
class Table {
 public:
  explicit Table(const std::filesystem::path& file) {
    fits_open_diskfile(&file_, file.c_str(), READONLY, &status_);
    fits_movabs_hdu(file_, 2, nullptr, &status_);
    REQUIRE(status_ == 0);
  }
  ~Table() {
    fits_close_file(file_, &status_);
    CHECK(status_ == 0);
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] std::string key(const char* name) {
    std::string value(FLEN_VALUE, '\0');
    fits_read_keyword(file_, name, value.data(), nullptr, &status_);
    REQUIRE(status_ == 0);
    return value.c_str();
  }
  [[nodiscard]] Names texts(int column, std::size_t rows) {
    Names values(rows, std::string(80, '\0'));
    std::vector<char*> texts;
    for (std::string& value : values) texts.push_back(value.data());
    std::string null;
    fits_read_col(file_, TSTRING, column, 1, 1, static_cast<LONGLONG>(rows), null.data(), texts.data(), nullptr,
                  &status_);
    REQUIRE(status_ == 0);
    for (std::string& value : values) value = value.c_str();
    return values;
  }
  [[nodiscard]] Values list(int column, int row, std::size_t count) {
    Values values(count);
    fits_read_col(file_, TDOUBLE, column, row, 1, static_cast<LONGLONG>(count), nullptr, values.data(), nullptr,
                  &status_);
    REQUIRE(status_ == 0);
    return values;
  }
  [[nodiscard]] std::string card(const char* name) {
    std::string text(FLEN_CARD, '\0');
    fits_read_card(file_, name, text.data(), &status_);
    REQUIRE(status_ == 0);
    return text.c_str();
  }
  [[nodiscard]] bool has_sound_sums() {
    int data = 0;
    int all = 0;
    fits_verify_chksum(file_, &data, &all, &status_);
    return status_ == 0 && data == 1 && all == 1;
  }

 private:
  fitsfile* file_ = nullptr;
  int status_ = 0;
};

std::filesystem::path copy(const TempFolder& folder, const Paths& files, const ReadOptions& options, bool core = true) {
  const FilePoints points = read_points(files, options);
  const LabelledCopy labelled(files, options, points, OutputFormat::fits, {.core = core});
  CHECK(labelled.limit().empty());
  CHECK(labelled.left_out().empty());
  labelled.write(folder / "out.fits", result_of(points), Overwrite::replace);
  return folder / "out.fits";
}

std::string refusal_of(const TempFolder& folder, const Paths& files, const ReadOptions& options) {
  return error_of<InputError>([&] { copy(folder, files, options); });
}

const double nan = std::numeric_limits<double>::quiet_NaN();

/// Writes NAME, RA, DEC and N with nulls and, if `lists` is true, lists.
std::filesystem::path write_stars(const TempFolder& folder, const std::string& name, const Names& names,
                                  const Values& ra, bool lists = false) {
  const std::filesystem::path file = folder / name;
  const Values nulls(ra.size(), -99);
  std::vector<FitsColumn> columns{
      {"NAME", "8A"}, {"RA", "1D", ra}, {"DEC", "1E", Values(ra.size(), 0.5)}, {"N", "1I", nulls}};
  if (lists) columns.push_back({"LIST", "1PE"});
  FitsWriter fits(file);
  fits.table(BINARY_TBL, "STARS", columns);
  fits.key("TUNIT2", "deg");
  fits.key("TNULL4", -99);
  fits.key("OBSERVER", "Hubble");
  fits.write_text(1, names);
  if (lists) {
    fits.write(5, {1, 2, 3}, 1);
    fits.write(5, {4, 5}, 3);
  }
  fits.write_checksums();
  return file;
}

}  // namespace

TEST_CASE("labelled fits: a table keeps its columns, keywords and lists") {
  const TempFolder folder;
  const auto file = write_stars(folder, "a.fits", {"M 31", "it's", "far"}, {1, nan, 3}, true);
  const auto out = copy(folder, {file}, {.columns = {"ra", "dec"}, .on_nan = NanPolicy::drop});
  Table table(out);
  CHECK(table.texts(1, 3) == Names{"M 31", "it's", "far"});
  CHECK(table.list(5, 1, 3) == Values{1, 2, 3});
  CHECK(table.list(5, 3, 2) == Values{4, 5});
  for (const auto& [key, value] : std::vector<std::pair<const char*, std::string>>{{"TFORM3", "'1E      '"},
                                                                                   {"TUNIT2", "'deg     '"},
                                                                                   {"TNULL4", "-99"},
                                                                                   {"OBSERVER", "'Hubble  '"},
                                                                                   {"EXTNAME", "'STARS   '"},
                                                                                   {"TTYPE6", "'label   '"},
                                                                                   {"TFORM6", "'1J      '"},
                                                                                   {"TNULL6", "-2147483648"},
                                                                                   {"TTYPE7", "'core    '"},
                                                                                   {"TNULL7", "255"}}) {
    CHECK(table.key(key) == value);
  }
  CHECK(table.has_sound_sums());
  CHECK(table.card("HISTORY") == "HISTORY labels of DBSCAN by epsflow: eps 0.5, minpts 3, metric euclidean");
  const FilePoints back = read_points(out, {.columns = {"ra", "label", "core"}, .on_nan = NanPolicy::drop});
  CHECK(values_of(back) == Values{1, 0, 0, 3, -1, 1});
  CHECK(back.inputs[0].dropped == std::vector<std::uint64_t>{1});
  CHECK(read_points(out, {.columns = {"label"}, .on_nan = NanPolicy::drop}).size() == 2);  // null, not a number
}

TEST_CASE("labelled fits: tables follow each other") {
  const TempFolder folder;
  const Paths files{write_stars(folder, "a.fits", {"a", "b"}, {1, nan}), write_stars(folder, "b.fits", {"c"}, {3}),
                    write_stars(folder, "c.fits", {"d", "e", "f"}, {4, 5, 6})};
  const ReadOptions options{.columns = {"ra"}, .on_nan = NanPolicy::drop};
  const auto out = copy(folder, files, options);
  CHECK(Table(out).texts(1, 6) == Names{"a", "b", "c", "d", "e", "f"});
  CHECK(values_of(read_points(out, {.columns = {"ra", "label"}, .on_nan = NanPolicy::drop})) ==
        Values{1, 0, 3, -1, 4, 2, 5, 3, 6, 4});
  const auto lists = write_stars(folder, "l.fits", {"a", "b", "c"}, {1, 2, 3}, true);
  check_mentions(refusal_of(folder, {lists, lists}, options), {"l.fits", "'LIST'", "variable length"});
  check_mentions(refusal_of(folder, {files[0], lists}, options), {"the number of columns"});
  const auto other = folder / "o.fits";
  FitsWriter(other).table(BINARY_TBL, "STARS", {{"NAME", "9A"}, {"RA", "1D", {1}}, {"DEC", "1E"}, {"N", "1I"}});
  check_mentions(refusal_of(folder, {files[0], other}, options), {"o.fits", "TFORM1"});
}

TEST_CASE("labelled fits: an ASCII table stays one") {
  const TempFolder folder;
  const auto file = folder / "a.fits";
  {
    FitsWriter fits(file);
    fits.table(ASCII_TBL, "STARS", {{"NAME", "A8"}, {"X", "E15.7", {1, 2, 3}}});
    fits.key("TNULL2", "none");
    fits.write_text(1, {"a b", "c", "d"});
  }
  const auto out = copy(folder, {file}, {.columns = {"x"}});
  CHECK(Table(out).key("XTENSION") == "'TABLE   '");
  CHECK(Table(out).texts(1, 3) == Names{"a b", "c", "d"});
  CHECK(values_of(read_points(out, {.columns = {"x", "label", "core"}})) == Values{1, 0, 0, 2, -1, 1, 3, 2, 0});
}

TEST_CASE("labelled fits: what is said to lie after the rows is not searched there") {
  const TempFolder folder;
  const std::string bytes = bytes_of_file(write_stars(folder, "a.fits", {"a", "b"}, {1, 2}, true));
  const auto refuses = [&](const char* replaced, const char* key, const std::string& value) {
    CAPTURE(key, value);
    std::string damaged = bytes;
    const std::size_t at = damaged.find(replaced);
    REQUIRE(at != std::string::npos);
    std::string card = key + std::string(30 - std::string(key).size() - value.size(), ' ') + value;
    card[8] = '=';
    card.resize(80, ' ');
    const auto file = folder.write("bad.fits", damaged.replace(at, 80, card));
    check_mentions(refusal_of(folder, {file}, {.columns = {"ra"}}), {"bad.fits", "behind the rows", "fetch it again"});
  };
  for (const char* value : {"99999999999999", "-5", "1"}) refuses("EXTNAME", "THEAP", value);
  refuses("PCOUNT", "PCOUNT", "900000000000");
}

TEST_CASE("labelled fits: more rows than a block, and a file that has changed") {
  const TempFolder folder;
  const auto file = folder / "a.fits";
  const auto write = [&](std::size_t rows) {
    std::filesystem::remove(file);
    Values values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = static_cast<double>(i);
    FitsWriter(file).table(BINARY_TBL, "STARS", {{"X", "1D", values}});
  };
  write(100'000);
  const FilePoints back = read_points(copy(folder, {file, file}, {}), {.columns = {"X", "label"}});
  REQUIRE(back.size() == 200'000);
  CHECK(back.view().at(99'999, 0) == 99'999);
  CHECK(back.view().at(100'000, 0) == 0);
  CHECK(back.view().at(199'999, 1) == 199'999);
  FilePoints points = read_points(file);
  write(100'001);
  points.inputs[0].stamp = stamp_of(file);
  check_mentions(error_of<InputError>([&] { LabelledCopy({file}, {}, points, OutputFormat::fits, {}); }),
                 {"a.fits", "has changed", "100,001 rows"});
}

TEST_CASE("labelled fits: keywords of the primary header and other tables are left out, and told") {
  const TempFolder folder;
  const auto file = folder / "a.fits";
  {
    FitsWriter fits(file);
    fits.key("TELESCOP", "HST");
    for (const char* name : {"STARS", "OTHERS"}) fits.table(BINARY_TBL, name, {{"X", "1D", {1, 2}}});
  }
  const ReadOptions options{.table = "STARS"};
  const FilePoints points = read_points(file, options);
  CHECK(LabelledCopy({file}, options, points, OutputFormat::fits, {}).left_out() ==
        "1 keyword of the primary header, 1 header unit beside the table");
}

TEST_CASE("labelled fits: a gzipped table gives its coordinates alone, and says so") {
  const TempFolder folder;
  const auto plain = write_stars(folder, "a.fits", {"a", "b"}, {1, 2});
  const auto packed = folder.write("a.fits.gz", gzip(bytes_of_file(plain)));
  const ReadOptions options{.columns = {"ra"}};
  const FilePoints points = read_points(packed, options);
  const LabelledCopy labelled({packed}, options, points, OutputFormat::fits, {});
  check_mentions(labelled.limit(), {"a.fits.gz is gzipped", "unpack it"});
  labelled.write(folder / "out.fits", {{0.5, 3}, {0, 1}, {}}, Overwrite::refuse);
  CHECK(values_of(read_points(folder / "out.fits")) == Values{1, 0, 2, 1});
}

}  // namespace epsflow::io::test
