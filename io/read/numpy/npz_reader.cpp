#include <epsflow/io/read/readers.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zip.h>

#include <epsflow/core/format.hpp>
#include <epsflow/io/read/element_columns.hpp>
#include <epsflow/io/read/numpy/npy_header.hpp>

namespace epsflow::io {
namespace {

[[noreturn]] void throw_damaged(const std::string& name, std::string_view why) {
  throw InputError(fmt::format("{}: damaged ZIP archive: {}; fetch or write it again", name, why));
}

struct DiscardZip {
  void operator()(zip_t* archive) const noexcept { zip_discard(archive); }
};

struct CloseMember {
  void operator()(zip_file_t* file) const noexcept { zip_fclose(file); }
};

/// A member of an archive, unpacked on the way.
class MemberStream final : public ByteStream {
 public:
  MemberStream(zip_t* archive, zip_uint64_t index, std::uint64_t size, std::string name)
      : file_(zip_fopen_index(archive, index, 0)), size_(size), name_(std::move(name)) {
    if (file_ != nullptr) return;
    const int code = zip_error_code_zip(zip_get_error(archive));
    if (code == ZIP_ER_COMPNOTSUPP || code == ZIP_ER_ENCRNOTSUPP || code == ZIP_ER_NOPASSWD) {
      throw InputError(fmt::format("{}: cannot be unpacked by this build's libzip: {}; write it again with numpy.savez",
                                   name_, zip_strerror(archive)));
    }
    throw_damaged(name_, zip_strerror(archive));
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override { return size_; }

  /// Reads to the end, so that the checksum is verified.
  void finish() {
    std::vector<char> scratch(std::size_t{1} << 16);
    while (read(scratch) == scratch.size()) continue;
  }

 private:
  std::size_t read_some(std::span<char> to) override {
    const zip_int64_t got = zip_fread(file_.get(), to.data(), to.size());
    if (got < 0) throw_damaged(name_, zip_error_strerror(zip_file_get_error(file_.get())));
    return static_cast<std::size_t>(got);
  }

  std::unique_ptr<zip_file_t, CloseMember> file_;
  std::uint64_t size_;
  std::string name_;
};

struct Member {
  std::string name;  ///< without .npy
  zip_uint64_t index = 0;
  std::uint64_t size = 0;
};

class Archive {
 public:
  Archive(ByteStream& stream, const Source& source) : source_(source), file_(library_file(stream, source)) {
    int code = 0;
    archive_.reset(zip_open(file_.path.c_str(), ZIP_RDONLY, &code));
    if (archive_ == nullptr) {
      zip_error_t error{};
      zip_error_init_with_code(&error, code);
      const std::string why = zip_error_strerror(&error);
      zip_error_fini(&error);
      throw_damaged(source.name, why);
    }
    list();
  }

  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }
  [[nodiscard]] std::uint64_t memory() const noexcept { return file_.memory_taken; }

  [[nodiscard]] const Member* find(std::string_view name) const {
    if (name.ends_with(".npy")) name.remove_suffix(4);
    const auto found = indices_.find(name);
    return found == indices_.end() ? nullptr : &members_[found->second];
  }

  [[nodiscard]] MemberStream open(const Member& member) const {
    return {archive_.get(), member.index, member.size, name_of(member)};
  }
  [[nodiscard]] std::string name_of(const Member& member) const {
    return fmt::format("{}, member {}", source_.name, show_text(member.name));
  }

 private:
  void list() {
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
      const auto index = static_cast<zip_uint64_t>(i);
      zip_stat_t status{};
      zip_stat_init(&status);
      if (zip_stat_index(archive_.get(), index, 0, &status) != 0 || (status.valid & ZIP_STAT_NAME) == 0 ||
          (status.valid & ZIP_STAT_SIZE) == 0) {
        throw_damaged(source_.name, zip_strerror(archive_.get()));
      }
      std::string_view name = status.name;
      if (!name.ends_with(".npy")) continue;
      name.remove_suffix(4);
      indices_.emplace(name, members_.size());
      members_.push_back({std::string(name), index, status.size});
    }
    if (members_.empty()) {
      throw source_.error("a ZIP archive without .npy arrays; unpack it with unzip and read what is in it");
    }
  }

  const Source& source_;
  LibraryFile file_;
  std::unique_ptr<zip_t, DiscardZip> archive_;
  std::vector<Member> members_;
  std::map<std::string, std::size_t, std::less<>> indices_;  ///< of members, by name
};

/// The header of a member, if it is readable, and a description for errors. Members that are not chosen may be damaged.
struct Description {
  std::optional<NpyHeader> header;
  std::string text;
};

Description describe(const Archive& archive, const Member& member, const Source& source) {
  const std::string name = archive.name_of(member);
  const Source named{.name = name, .options = source.options};
  try {
    MemberStream stream = archive.open(member);
    NpyHeader header = read_npy_header(stream, named);
    std::string shape;
    for (const std::uint64_t size : header.shape) shape += (shape.empty() ? "" : " x ") + format_count(size);
    const std::string type = header.is_record     ? "records"
                             : header.type.number ? std::string(type_name(*header.type.number))
                                                  : header.type.name;
    std::string text = fmt::format("{} ({}, {})", show_text(member.name), shape.empty() ? "one value" : shape, type);
    return {std::move(header), std::move(text)};
  } catch (const InputError&) {
    return {std::nullopt, show_text(member.name) + " (no array of numbers)"};
  }
}

bool can_be_points(const Description& description) {
  if (!description.header) return false;
  const NpyHeader& header = *description.header;
  if (header.is_record) return header.shape.size() == 1;
  return header.type.number.has_value() && (header.shape.size() == 1 || header.shape.size() == 2);
}

std::string list_members(const Archive& archive, const Source& source) {
  return list_of(archive.members(), [&](const Member& member) { return describe(archive, member, source).text; });
}

/// Returns the array that ReadOptions::table names, or the only one that can be points.
const Member& choose_member(const Archive& archive, const Source& source) {
  const std::string& wanted = source.options.table;
  if (!wanted.empty()) {
    if (const Member* const member = archive.find(wanted)) return *member;
    throw source.error("there is no array {}; ReadOptions::table may choose from: {}", show_text(wanted),
                       list_members(archive, source));
  }
  if (archive.members().size() == 1) return archive.members()[0];  // its reader reports any fault
  std::vector<const Member*> suitable;
  for (const Member& member : archive.members()) {
    if (can_be_points(describe(archive, member, source))) suitable.push_back(&member);
  }
  if (suitable.size() == 1) return *suitable[0];
  throw source.error(
      "{} could be the points; choose one with ReadOptions::table, or arrays of one axis and one length with "
      "ReadOptions::columns, from: {}",
      suitable.empty() ? "none of the arrays" : "several arrays", list_members(archive, source));
}

/// If ReadOptions::columns names only arrays, returns these, followed by the weight array, if any; else nothing.
std::vector<const Member*> find_columns(const Archive& archive, const Source& source) {
  std::vector<const Member*> members;
  if (!source.options.table.empty()) return members;
  for (const std::string& column : source.options.columns) {
    const Member* const member = archive.find(column);
    if (member == nullptr) return {};
    if (std::find(members.begin(), members.end(), member) != members.end()) {
      throw_named_twice(source, show_text(column));
    }
    members.push_back(member);
  }
  const std::string& weight = source.options.weight;
  if (members.empty() || weight.empty()) return members;
  members.push_back(archive.find(weight));
  if (members.back() != nullptr) return members;
  throw source.error("there is no array {}; ReadOptions::weight may choose from: {}", show_text(weight),
                     list_members(archive, source));
}

FilePoints read_columns(const Archive& archive, const std::vector<const Member*>& members, const Source& source) {
  std::vector<BinaryColumn> columns;
  PointsShape shape{.kind = "NPZ members"};
  for (const Member* const member : members) {
    const Description description = describe(archive, *member, source);
    const bool is_column = description.header && !description.header->is_record && description.header->type.number &&
                           description.header->shape.size() == 1;
    if (!is_column) {
      throw source.error("{} is no column: as one of several it needs one axis of numbers", description.text);
    }
    const std::uint64_t size = description.header->shape[0];
    if (!columns.empty() && size != shape.rows) {
      throw source.error("{} has {}, but {} has {}; columns of points need the same length",
                         show_text(members[0]->name), format_count(shape.rows, "value"), show_text(member->name),
                         format_count(size, "value"));
    }
    shape.rows = size;
    shape.kind += (columns.empty() ? " " : ", ") + member->name;
    const NpyType& type = description.header->type;
    shape.columns.push_back({static_cast<std::size_t>(member - archive.members().data()), 0, member->name,
                             *type.number == ValueType::float32});
    columns.push_back({.type = *type.number, .big_endian = type.big_endian});
  }
  PointsBuilder points(source);
  points.begin(shape);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::string name = archive.name_of(*members[k]);
    const Source named{.name = name, .options = source.options};
    MemberStream stream = archive.open(*members[k]);
    (void)read_npy_header(stream, named);
    put_run(stream, shape, columns[k], k, points, named);
    stream.finish();
  }
  return points.take();
}

FilePoints read_npz(ByteStream& stream, const Source& source) {
  const Archive archive(stream, source);
  const Source remaining = source.with_taken(archive.memory());
  const std::vector<const Member*> columns = find_columns(archive, remaining);
  if (!columns.empty()) return read_columns(archive, columns, remaining);
  const Member& member = choose_member(archive, remaining);
  const std::string name = archive.name_of(member);
  const Source named{.name = name, .options = source.options, .memory_taken = remaining.memory_taken};
  MemberStream array = archive.open(member);
  FilePoints points = read_npy(array, named);
  array.finish();
  points.inputs.front().name = source.name;
  points.inputs.front().kind = fmt::format("NPZ member {}, {}", member.name, points.inputs.front().kind);
  return points;
}

}  // namespace

std::function<FilePoints(std::vector<std::string>)> open_npz(const std::filesystem::path& file) {
  struct Opened {
    explicit Opened(std::string name, ByteStream& stream)
        : source{.name = std::move(name), .options = options}, archive(stream, source) {}

    ReadOptions options;
    Source source;
    Archive archive;
  };
  return [opened = std::make_shared<Opened>(display_name(file), *open_stream(file))](std::vector<std::string> columns) {
    const ReadOptions options{.columns = std::move(columns)};
    const Source source{.name = opened->source.name, .options = options};
    const std::vector<const Member*> members = find_columns(opened->archive, source);
    if (members.empty()) throw source.error("one of the arrays {} is missing", fmt::join(options.columns, ", "));
    return read_columns(opened->archive, members, source);
  };
}

Reader npz_reader() {
  return {.read = read_npz, .version = [] { return fmt::format("libzip {}", zip_libzip_version()); }};
}

}  // namespace epsflow::io
