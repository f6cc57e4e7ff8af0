#include <epsflow/report/as_json.hpp>

#include <string>

#include <epsflow/core/json_numbers.hpp>

namespace epsflow::report {
namespace {

using nlohmann::ordered_json;

ordered_json as_json(const Offer& offer) {
  ordered_json json = counts_as_json<ordered_json>(offer.variant, offer.summary);
  if (offer.variant.eps == 0) json["eps"] = nullptr;
  if (!offer.cell) json["eps_of_clusters"] = offer.eps_of_clusters;
  json["score"] = offer.score;
  json["confidence"] = offer.confidence;
  json["plateau"] = {{"eps", {offer.plateau.eps_from, offer.plateau.eps_to}},
                     {"minpts", {offer.plateau.minpts_from, offer.plateau.minpts_to}}};
  json["reason"] = offer.reason;
  return json;
}

}  // namespace

ordered_json as_json(const Exploration& made) {
  ordered_json json;
  json["grid"] = {{"eps", made.eps}, {"minpts", made.minpts}};
  json["recommended"] = made.recommended ? as_json(*made.recommended) : ordered_json();
  if (made.one_eps) json["one_eps"] = as_json(*made.one_eps);
  json["alternatives"] = ordered_json::array();
  for (const Offer& offer : made.alternatives) json["alternatives"].push_back(as_json(offer));
  json["doubts"] = ordered_json::array();
  for (const Doubt doubt : made.doubts) {
    json["doubts"].push_back({{"name", std::string(word_of(doubt))}, {"text", sentence_of(doubt)}});
  }
  return json;
}

}  // namespace epsflow::report
