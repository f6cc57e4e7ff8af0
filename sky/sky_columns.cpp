#include <epsflow/sky/sky_columns.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <epsflow/core/error.hpp>

namespace epsflow {
namespace {

/// Words for longitude and latitude, separated by blanks. A word may be several parts of a name: right_ascension.
struct System {
  std::string_view longitudes;
  std::string_view latitudes;
};

constexpr std::array kSystems{
    System{"lon long lng londeg lonrad longitude decimallongitude geolon",
           "lat latdeg latrad latitude decimallatitude geolat"},
    System{"ra radeg rarad rightascension alpha objra",
           "dec decl decdeg decrad de dedeg derad declination delta objdec"},
    System{"raj2000 alphaj2000 alphawinj2000 alphapeakj2000",
           "dej2000 decj2000 deltaj2000 deltawinj2000 deltapeakj2000"},
    System{"rab1950", "deb1950 decb1950"},
    System{"raicrs", "deicrs decicrs"},
    System{"l lii glon gallon lgal galacticlon galacticlongitude",
           "b bii glat gallat bgal galacticlat galacticlatitude"},
    System{"elon ecllon eclipticlon eclipticlongitude", "elat ecllat eclipticlat eclipticlatitude"},
    System{"sgl sglon supergalacticlon", "sgb sglat supergalacticlat"},
};

/// Words that are too short or too common to be recognised beside other words.
constexpr std::string_view kWholeNames = "l b de alpha delta";
/// Words that may accompany a coordinate without changing its meaning: its unit, its form, UCD's main.
constexpr std::string_view kSaidInPassing = "deg degree degrees rad radian radians decimal meta main";
/// Words that name a unit, alone or as part of a known word.
constexpr std::string_view kSaysDegrees = "deg degree degrees londeg latdeg radeg decdeg dedeg";
constexpr std::string_view kSaysRadians = "rad radian radians lonrad latrad rarad decrad derad";
constexpr std::string_view kOtherUnits =
    "arcmin arcmins arcminute arcminutes arcsec arcsecs arcsecond arcseconds mas hour hours hms dms km kilometer "
    "kilometers "
    "kilometre kilometres meter meters metre metres";
/// Words that mark the name of another quantity than a coordinate.
constexpr std::string_view kOtherFigures =
    "e err error errors sigma sd std stdev stddev rms var unc uncertainty mu pm proper motion corr";

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

/// Returns the parts of a name such as "pickupLongitude", "RA_J2000" or "lat1", in lower case.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts;
  unsigned char before = 0;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = std::isalpha(byte) != 0 || byte >= 0x80;
    if (is_letter || std::isdigit(byte) != 0) {
      const bool goes_on = std::isalnum(before) != 0 || before >= 0x80;
      const bool begins = (std::islower(before) != 0 && std::isupper(byte) != 0) ||
                          (std::isalpha(before) != 0 && std::isdigit(byte) != 0);
      if (!goes_on || begins) parts.emplace_back();
      parts.back() += static_cast<char>(std::tolower(byte));
    }
    before = byte;
  }
  return parts;
}

/// The meaning of a name.
struct Meaning {
  std::size_t system = 0;
  bool is_latitude = false;
  std::string beside;  ///< the other parts, without kSaidInPassing

  [[nodiscard]] bool pairs_with(const Meaning& other) const {
    return system == other.system && is_latitude != other.is_latitude && beside == other.beside;
  }
};

std::optional<Meaning> meaning_of(std::string_view word) {
  for (std::size_t system = 0; system < kSystems.size(); ++system) {
    if (has_word(kSystems[system].longitudes, word)) return Meaning{system, false, {}};
    if (has_word(kSystems[system].latitudes, word)) return Meaning{system, true, {}};
  }
  return std::nullopt;
}

/// Returns the meaning of the longest known word that begins with parts[first], and the index after its last part.
std::pair<std::optional<Meaning>, std::size_t> word_at(const std::vector<std::string>& parts, std::size_t first) {
  for (std::size_t end = parts.size(); end > first; --end) {
    std::string word;
    for (std::size_t i = first; i < end; ++i) word += parts[i];
    auto meaning = meaning_of(word);
    if (meaning && has_word(kWholeNames, word)) meaning->beside = "whole";
    if (meaning) return {std::move(meaning), end};
  }
  return {std::nullopt, first + 1};
}

/// Returns nullopt for a name that is unknown or has several known words.
std::optional<Meaning> meaning_of_name(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name);
  std::optional<Meaning> found;
  std::string beside;
  for (std::size_t i = 0; i < parts.size();) {
    auto [meaning, end] = word_at(parts, i);
    if (has_word(kOtherFigures, parts[i]) || (meaning && found)) return std::nullopt;
    if (meaning) {
      found = std::move(meaning);
    } else if (!has_word(kSaidInPassing, parts[i])) {
      beside += parts[i] + ' ';
    }
    i = end;
  }
  if (!found || (found->beside == "whole" && !beside.empty())) return std::nullopt;
  found->beside = beside;
  return found;
}

/// Returns the system of the first known name.
std::optional<std::size_t> system_of(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (const auto meaning = meaning_of_name(name)) return meaning->system;
  }
  return std::nullopt;
}

/// Returns a list such as "'ra', 'dec'".
std::string listed(std::span<const std::string> names, const std::set<std::size_t>& columns) {
  std::string text;
  for (const std::size_t column : columns) text += (text.empty() ? "'" : ", '") + names[column] + "'";
  return text;
}

}  // namespace

std::vector<std::size_t> sky_columns(std::span<const std::string> names, const Metric& metric) {
  const bool latitude_first = latitude_comes_first(metric);
  if (!on_sphere(metric.kind)) return {};
  if (names.size() < 2 || (names.size() == 2 && metric.latitude_first)) return {};
  std::vector<std::optional<Meaning>> meanings;
  for (const std::string& name : names) meanings.push_back(meaning_of_name(name));
  std::vector<std::size_t> pair;
  std::set<std::size_t> paired;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (!meanings[i] || !meanings[k] || meanings[i]->is_latitude || !meanings[i]->pairs_with(*meanings[k])) continue;
      pair = latitude_first ? std::vector{k, i} : std::vector{i, k};
      paired.insert({i, k});
    }
  }
  if (paired.size() > 2) {
    throw UsageError("several columns could be longitude and latitude, " + listed(names, paired) +
                     ": choose two with ReadOptions::columns");
  }
  const bool is_known = std::ranges::any_of(meanings, [](const auto& meaning) { return meaning.has_value(); });
  if (pair.empty() && names.size() == 2 && is_known) {
    throw UsageError("columns " + listed(names, {0, 1}) +
                     " are not longitude and latitude of one system, by their names: choose others with "
                     "ReadOptions::columns, or give latitude first and say so with Metric::latitude_first");
  }
  return pair;
}

void require_unit_of_names(std::span<const std::string> names, const Metric& metric) {
  if (!on_sphere(metric.kind)) return;
  const bool radians = in_radians(metric.kind);
  const std::string other = radians ? "degrees" : "radians";
  std::set<std::size_t> wrong;
  std::set<std::string> units;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!meaning_of_name(names[i])) continue;
    for (const std::string& part : parts_of(names[i])) {
      const bool is_other = has_word(radians ? kSaysDegrees : kSaysRadians, part);
      if (!is_other && !has_word(kOtherUnits, part)) continue;
      wrong.insert(i);
      units.insert(is_other ? other : part);
    }
  }
  if (wrong.empty()) return;
  std::string text = "by the names " + listed(names, wrong) + " columns are in ";
  for (const std::string& unit : units) text += (unit == *units.begin() ? "" : " and ") + unit;
  text +=
      std::string(", and ") + (radians ? "haversine takes radians" : "greatcircle takes degrees") + ": convert them, ";
  const bool has_metric = units.size() == 1 && units.contains(other);
  if (has_metric)
    text += std::string("choose Metric::kind = MetricKind::") + (radians ? "greatcircle, " : "haversine, ");
  throw UsageError(text + "or rename them where the names are wrong");
}

bool may_be_one_system(std::span<const std::string> a, std::span<const std::string> b) {
  const auto of_a = system_of(a);
  const auto of_b = system_of(b);
  return !of_a || !of_b || of_a == of_b;
}

}  // namespace epsflow
