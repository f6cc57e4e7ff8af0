#include <epsflow/report/as_json.hpp>

#include <string>

namespace epsflow::report {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const Offer& offer) {
  Json json = counts_as_json(offer.variant, offer.summary);
  json["score"] = offer.score;
  json["confidence"] = offer.confidence;
  json["plateau"] = {{"eps", {offer.plateau.eps_from, offer.plateau.eps_to}},
                     {"minpts", {offer.plateau.minpts_from, offer.plateau.minpts_to}}};
  json["reason"] = offer.reason;
  return json;
}

}  // namespace

Json counts_as_json(const Variant& variant, const LabelSummary& summary) {
  return {{"eps", variant.eps},   {"minpts", variant.minpts}, {"clusters", summary.clusters}, {"noise", summary.noise},
          {"core", summary.core}, {"border", summary.border}, {"largest", summary.largest}};
}

Json as_json(const Exploration& made) {
  Json json;
  json["grid"] = {{"eps", made.eps}, {"minpts", made.minpts}};
  json["recommended"] = made.recommended ? as_json(*made.recommended) : Json();
  json["alternatives"] = Json::array();
  for (const Offer& offer : made.alternatives) json["alternatives"].push_back(as_json(offer));
  json["doubts"] = Json::array();
  for (const Doubt doubt : made.doubts) {
    json["doubts"].push_back({{"name", std::string(word_of(doubt))}, {"text", sentence_of(doubt)}});
  }
  return json;
}

}  // namespace epsflow::report
