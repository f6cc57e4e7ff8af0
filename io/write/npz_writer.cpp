#include <epsflow/io/write/npz_writer.hpp>

#include <epsflow/core/checked.hpp>
#include <epsflow/io/checksum.hpp>

namespace epsflow::io {
namespace {

// ZIP as in PKWARE's APPNOTE 6.3. Every size and offset is in a field of ZIP64: the fields of 32 bits refer to these.
constexpr std::uint32_t kMember = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator = 0x07064b50;
constexpr std::uint16_t kVersion = 45, kUtf8 = 1 << 11, kStored = 0, kZip64 = 1, kNone = 0, kIn64 = 0xFFFF;
constexpr std::uint32_t kNone32 = 0, kIn64Too = 0xFFFFFFFF;
/// The first of January 1980, the begin of ZIP's calendar. A fixed time makes equal files of equal arrays.
constexpr std::uint16_t kTime = 0, kDate = 1 << 5 | 1;

/// Appends numbers as they lie in memory.
template <class... T>
void put(std::string& to, T... numbers) {
  (to.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}

}  // namespace

void NpzWriter::write(std::string_view bytes) {
  out_.write(bytes);
  written_ += bytes.size();
}

void NpzWriter::add(std::string_view name, const NpyArray& array) {
  const std::string member = std::string(name) + ".npy";
  const std::uint64_t bytes = array.bytes();
  Checksum checksum;
  checksum.add(array.header);
  checksum.add(array.data);
  std::string about;  // the same before the array and in the list
  put(about, kVersion, kUtf8, kStored, kTime, kDate, checksum.value(), kIn64Too, kIn64Too,
      narrow<std::uint16_t>(member.size()));

  constexpr std::uint16_t kSizes = 2 * sizeof(bytes), kSizesAndOffset = 3 * sizeof(bytes), kField = 4;
  put(directory_, kEntry, kVersion);
  directory_ += about;
  put(directory_, std::uint16_t{kField + kSizesAndOffset}, kNone, kNone, kNone, kNone32, kIn64Too);
  directory_ += member;
  put(directory_, kZip64, kSizesAndOffset, bytes, bytes, written_);
  ++arrays_;

  std::string before;
  put(before, kMember);
  before += about;
  put(before, std::uint16_t{kField + kSizes});
  before += member;
  put(before, kZip64, kSizes, bytes, bytes);
  write(before + array.header);
  write({reinterpret_cast<const char*>(array.data.data()), array.data.size()});
}

void NpzWriter::close() {
  const std::uint64_t begin = written_, size = directory_.size(), end = begin + size;
  constexpr std::uint64_t kRest = 44;  // of the record, after this number
  constexpr std::uint32_t kDisk = 0, kDisks = 1;
  put(directory_, kEnd64, kRest, kVersion, kVersion, kDisk, kDisk, arrays_, arrays_, size, begin);
  put(directory_, kLocator, kDisk, end, kDisks);
  put(directory_, kEnd, kNone, kNone, kIn64, kIn64, kIn64Too, kIn64Too, kNone);
  write(directory_);
  out_.close();
}

}  // namespace epsflow::io
