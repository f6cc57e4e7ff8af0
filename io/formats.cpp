#include <epsflow/io/formats.hpp>

#include <epsflow/io/read/format.hpp>

namespace epsflow::io {

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> infos;
  for (const Format* const format : all_formats()) {
    const bool has_library = format->reader.version != nullptr;
    infos.push_back(
        {format->name, format->usable(), has_library ? format->reader.version() : std::string(format->needs)});
  }
  return infos;
}

void require_format(std::string_view name) {
  for (const Format* const format : all_formats()) {
    if (format->name == name && !format->usable()) throw_left_out(*format);
  }
}

}  // namespace epsflow::io
