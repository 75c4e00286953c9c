#include "experiments/study/network_section.h"

#include <cmath>

namespace residuum {
namespace {

/// Returns a number of the table that is finite and at least 0.
double number_of(const nlohmann::json& table, const char* key, const std::string& where) {
  const auto found = table.find(key);
  const bool is_good = found != table.end() && found->is_number() &&
                       std::isfinite(found->get<double>()) && found->get<double>() >= 0;
  require(is_good,
          "{} must have the numbers alpha_s and beta_s_per_byte, both at least 0; got {}",
          where,
          table.dump());
  return found->get<double>();
}

}  // namespace

LinkModel read_link_model(const Section& section) {
  const auto model = section.any("model", "none");
  if (model == "none") {
    return {};
  }
  if (model == "1gbe") {
    constexpr double kWordBytes = 4;
    return {.alpha_s = 4.36e-4, .beta_s_per_byte = 3.6e-8 / kWordBytes};
  }
  require(model.is_object() && model.size() == 2,
          "{} must be \"none\", \"1gbe\" or a table {{alpha_s, beta_s_per_byte}}; got {}",
          section.where("model"),
          model.dump());
  return {.alpha_s = number_of(model, "alpha_s", section.where("model")),
          .beta_s_per_byte = number_of(model, "beta_s_per_byte", section.where("model"))};
}

}  // namespace residuum
