#include <epsflow/io/read/hdf5/hdf5_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <epsflow/core/checked.hpp>
#include <epsflow/core/error.hpp>

namespace epsflow::io {
namespace {

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
#else
using ObjectInfo = H5O_info_t;
#endif

/// Replaces the library's allocator for files in memory: it uses the mapped bytes, which outlive the file, not a copy.
struct ImageCallbacks {
  static void* allocate(std::size_t, H5FD_file_image_op_t, void* image) { return image; }
  static void* copy(void* to, const void*, std::size_t, H5FD_file_image_op_t, void*) { return to; }
  static void* reallocate(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }
  static herr_t release(void*, H5FD_file_image_op_t, void*) { return 0; }
  static void* keep(void* image) { return image; }
  static herr_t forget(void*) { return 0; }

  static H5FD_file_image_callbacks_t of(void* image) {
    return {allocate, copy, reallocate, release, keep, forget, image};
  }
};

herr_t note_external_link(  // NOLINT(readability-function-size): HDF5's signature
    const char*, const char*, const char* file, const char*, unsigned*, hid_t, void* data) {
  *static_cast<std::string*>(data) = file != nullptr ? file : "";
  return -1;
}

bool has_text(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

Hdf5Sizes sizes_of(hid_t file, const Source& source) {
  const ListHandle creation = check(ListHandle(H5Fget_create_plist(file)), source, "reading the superblock");
  Hdf5Sizes sizes;
  hsize_t base = 0;
  check(H5Pget_userblock(creation.get(), &base), source, "reading the superblock");
  check(H5Pget_sizes(creation.get(), &sizes.address_bytes, &sizes.length_bytes), source, "reading the superblock");
  sizes.base = base;
  return sizes;
}

ObjectInfo info_of(hid_t file, const std::string& path, hid_t links, const Source& source) {
  ObjectInfo info{};
  check(H5Oget_info_by_name2(file, path.c_str(), &info, H5O_INFO_BASIC, links), source, "opening " + path);
  return info;
}

/// Returns a function that reads the bytes of an open file. The descriptor must outlive it.
ReadAt byte_reader(const OwnedDescriptor& descriptor) {
  return [&](std::uint64_t offset, std::span<unsigned char> bytes) {
    const ssize_t got = ::pread(descriptor.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    return got >= 0 && static_cast<std::size_t>(got) == bytes.size();
  };
}

/// Returns the name by which the library opened a file.
std::string name_of(hid_t file, const Source& source) {
  const ssize_t length = H5Fget_name(file, nullptr, 0);
  if (length < 0) throw_hdf5(source, "reading the name of a file");
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Fget_name(file, name.data(), name.size());
  name.pop_back();
  return name;
}

}  // namespace

void throw_hdf5(const Source& source, std::string_view doing) { throw_hdf5(source, doing, take_error_text()); }

void throw_hdf5(const Source& source, std::string_view doing, std::string_view reason) {
  throw source.error("{} failed: {}; the file may be truncated or damaged, fetch it again", doing, reason);
}

Hdf5File::Hdf5File(const LibraryFile& file, const Source& source)
    : source_(source), descriptor_(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file.memory_taken > 0) {
    open_image(narrow<std::size_t>(file.size));
  } else {
    file_.emplace(H5Fopen(file.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  }
  if (!file_->valid()) throw_unopened();
  sizes_ = sizes_of(file_->get(), source);
  links_.emplace(H5Pcreate(H5P_LINK_ACCESS));
  if (!source.options.external_storage) {
    check(H5Pset_elink_cb(links_->get(), note_external_link, &linked_file_), source, "refusing links out of the file");
  }
}

void Hdf5File::Unmap::operator()(void* mapped) const noexcept {
  if (mapped != MAP_FAILED) ::munmap(mapped, size);
}

void Hdf5File::open_image(std::size_t size) {
  image_ = ImagePointer(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor_.get(), 0), {size});
  if (image_.get() == MAP_FAILED) {
    throw source_.error<ResourceError>("cannot map its bytes: {}", std::strerror(errno));
  }
  const ListHandle access = check(ListHandle(H5Pcreate(H5P_FILE_ACCESS)), source_, "preparing to read from memory");
  constexpr std::size_t kIncrement = std::size_t{1} << 16;  // without effect, because nothing is written
  check(H5Pset_fapl_core(access.get(), kIncrement, false), source_, "preparing to read from memory");
  H5FD_file_image_callbacks_t callbacks = ImageCallbacks::of(image_.get());
  check(H5Pset_file_image_callbacks(access.get(), &callbacks), source_, "preparing to read from memory");
  check(H5Pset_file_image(access.get(), image_.get(), size), source_, "preparing to read from memory");
  file_.emplace(H5Fopen("memory", H5F_ACC_RDONLY, access.get()));
  if (!file_->valid()) throw_unopened();  // The next call of the library would clear its errors.
}

void Hdf5File::throw_unopened() {
  const std::string reason = take_error_text();
  if (has_text(reason, "unable to lock file")) {
    throw source_.error(
        "is open for writing by another program; wait until it is closed, or set the environment variable "
        "HDF5_USE_FILE_LOCKING=FALSE to read it as it stands");
  }
  if (has_text(reason, "already open for write")) {
    throw source_.error(
        "is open for writing by another program, or was not closed by one that ended early; wait until it is closed, "
        "or clear the mark with h5clear -s");
  }
  throw source_.error("opening the HDF5 file failed: {}; the file may be truncated or damaged, fetch it again", reason);
}

void Hdf5File::throw_if_linked_away(const std::string& path) const {
  if (linked_file_.empty()) return;
  const std::string file = std::exchange(linked_file_, {});
  H5Eclear2(H5E_DEFAULT);
  throw source_.error("{} leads into another file, {}; read that file, or allow it with ReadOptions::external_storage",
                      show_text(path), show_text(file));
}

Hdf5Object Hdf5File::kind_of(const std::string& path) const {
  ObjectInfo info{};
  if (H5Oget_info_by_name2(file_->get(), path.c_str(), &info, H5O_INFO_BASIC, links_->get()) < 0) {
    throw_if_linked_away(path);
    H5Eclear2(H5E_DEFAULT);
    return Hdf5Object::none;
  }
  if (info.type == H5O_TYPE_GROUP) return Hdf5Object::group;
  return info.type == H5O_TYPE_DATASET ? Hdf5Object::dataset : Hdf5Object::other;
}

std::uint64_t Hdf5File::address_of(const std::string& path) const {
  return info_of(file_->get(), path, links_->get(), source_).addr;
}

ObjectHandle Hdf5File::open_object(const std::string& path) const {
  return check(ObjectHandle(H5Oopen(file_->get(), path.c_str(), links_->get())), source_, "opening " + path);
}

Hdf5Storage Hdf5File::storage_of(const std::string& path) const {
  const ObjectInfo info = info_of(file_->get(), path, links_->get(), source_);
  if (info.fileno == info_of(file_->get(), "/", links_->get(), source_).fileno) {
    return find_hdf5_storage(byte_reader(descriptor_), sizes_, info.addr);
  }
  // A link leads into another file.
  const ObjectHandle opened = open_object(path);
  const FileHandle file = check(FileHandle(H5Iget_file_id(opened.get())), source_, "finding the file of " + path);
  const std::string name = name_of(file.get(), source_);
  const OwnedDescriptor descriptor(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) throw_hdf5(source_, "opening " + name, std::strerror(errno));
  return find_hdf5_storage(byte_reader(descriptor), sizes_of(file.get(), source_), info.addr);
}

void Hdf5File::check_storage(const std::string& path) const {
  const Hdf5Storage storage = storage_of(path);
  if (!source_.options.external_storage && (storage.is_virtual || storage.is_external)) {
    throw source_.error(
        "the data set {} keeps its values in other {} ({} storage); copy them into one file with h5repack, or allow it "
        "with ReadOptions::external_storage",
        show_text(path), storage.is_virtual ? "data sets" : "files", storage.is_virtual ? "virtual" : "external");
  }
  if (!storage.chunk_element_bytes) return;
  const ObjectHandle opened = open_object(path);
  const TypeHandle type = check(TypeHandle(H5Dget_type(opened.get())), source_, "reading the type of " + path);
  // The library trusts the size in the chunk layout, and would read past the end of a chunk.
  if (H5Tget_size(type.get()) != *storage.chunk_element_bytes) {
    throw source_.error(
        "damaged: the chunks of {} are made for values of {} bytes, but its type takes {}; fetch the file again",
        show_text(path), *storage.chunk_element_bytes, H5Tget_size(type.get()));
  }
}

ObjectHandle Hdf5File::open_dataset(const std::string& path) const {
  check_storage(path);
  return open_object(path);
}

std::vector<std::string> Hdf5File::list(const std::string& group) const {
  const ObjectHandle opened = open_object(group);
  H5G_info_t info{};
  check(H5Gget_info(opened.get(), &info), source_, "listing the group " + group);
  constexpr hsize_t kMost = 10000;
  std::vector<std::string> names;
  for (hsize_t i = 0; i < std::min(info.nlinks, kMost); ++i) {
    const ssize_t length =
        H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (length < 0) throw_hdf5(source_, "reading the name of a link");
    std::string name(static_cast<std::size_t>(length) + 1, '\0');
    H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    name.pop_back();
    H5L_info_t link{};
    if (H5Lget_info(opened.get(), name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) continue;
    names.push_back(std::move(name));
  }
  return names;
}

namespace {

/// Returns the attribute if it exists and holds 1 to `most` values.
std::optional<AttributeHandle> open_attribute(hid_t object, const char* name, hssize_t most) {
  if (H5Aexists(object, name) <= 0) return std::nullopt;
  AttributeHandle attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute.valid()) return std::nullopt;
  const SpaceHandle space(H5Aget_space(attribute.get()));
  const hssize_t count = space.valid() ? H5Sget_simple_extent_npoints(space.get()) : 0;
  if (count < 1 || count > most) return std::nullopt;
  return attribute;
}

}  // namespace

std::vector<double> read_numbers(hid_t object, const char* attribute) {
  constexpr hssize_t kMost = 64;
  const std::optional<AttributeHandle> opened = open_attribute(object, attribute, kMost);
  if (!opened) return {};
  const TypeHandle type(H5Aget_type(opened->get()));
  if (!type.valid() || !is_sound_number(type.get())) return {};
  const SpaceHandle space(H5Aget_space(opened->get()));
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  if (H5Aread(opened->get(), H5T_NATIVE_DOUBLE, values.data()) < 0) return {};
  return values;
}

std::string read_text(hid_t object, const char* attribute, bool in_heap) {
  const std::optional<AttributeHandle> opened = open_attribute(object, attribute, 1);
  if (!opened) return {};
  const TypeHandle type(H5Aget_type(opened->get()));
  constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  if (!type.valid() || H5Tget_class(type.get()) != H5T_STRING) return {};
  if (H5Tis_variable_str(type.get()) != 0) {
    char* read = nullptr;
    if (!in_heap || H5Aread(opened->get(), type.get(), static_cast<void*>(&read)) < 0 || read == nullptr) return {};
    const std::unique_ptr<char, FreeHdf5> owned(read);
    return owned.get();
  }
  std::string text(std::min(H5Tget_size(type.get()), kMostBytes), '\0');
  if (text.size() != H5Tget_size(type.get()) || H5Aread(opened->get(), type.get(), text.data()) < 0) return {};
  text.resize(std::min(text.size(), text.find_last_not_of('\0') + 1));
  return text;
}

bool is_sound_number(hid_t type) {
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class != H5T_INTEGER && type_class != H5T_FLOAT) return false;
  const std::size_t bits = 8 * H5Tget_size(type);
  constexpr std::size_t kMostBits = 128;
  const int offset = H5Tget_offset(type);
  const std::size_t precision = H5Tget_precision(type);
  if (bits > kMostBits || offset < 0 || precision == 0 || static_cast<std::size_t>(offset) + precision > bits) {
    return false;
  }
  if (type_class == H5T_INTEGER) return true;
  std::size_t sign = 0;
  std::size_t exponent_at = 0;
  std::size_t exponent = 0;
  std::size_t mantissa_at = 0;
  std::size_t mantissa = 0;
  if (H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa) < 0) return false;
  return sign < bits && exponent_at + exponent <= bits && mantissa_at + mantissa <= bits && exponent > 0 &&
         exponent < 32 && mantissa > 0;
}

}  // namespace epsflow::io
