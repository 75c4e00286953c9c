#pragma once
// Runs that differ only by their seed are one method; its name is made of what varies in the study.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/columns.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

/// A CutWord is a value that names have without its middle, or a name that is cut itself.
struct CutWord {
  std::string shown;  // "sparse…scatter"
  std::string whole;

  bool operator==(const CutWord&) const = default;
};

struct Group {
  std::string label;              // "gtopk-tree, captured, rho=0.01"
  std::vector<CutWord> cut = {};  // what is cut in the label
  Json varying = Json::object();  // as in config.json
  std::vector<std::size_t> runs;  // positions in ResultFolder::runs; those not begun come last
};

/// Returns the groups in study order, their labels all different; the first run of each has a
/// config.json. A run that has not begun is of the group whose runs vary as the study planned it.
/// Runs on different data are no methods: then there are no groups.
std::vector<Group> group_runs(const ResultFolder& folder);

/// Returns the words that are cut in the labels of these groups, each once, in their order.
std::vector<CutWord> cut_words(const std::vector<Group>& groups,
                               const std::vector<std::size_t>& places);

/// Returns the labels of the methods of which no run has begun, in study order.
std::vector<std::string> methods_not_begun(const ResultFolder& folder,
                                           const std::vector<Group>& groups);

/// Returns the label of every run of the folder; one that has not begun has that of a run which
/// differs by its seed alone, where there is one.
std::vector<std::string> method_labels(const ResultFolder& folder);

/// Returns the short name that labels have of a key, "ρ" for "sparsifier.density"; the key itself
/// where it has none.
std::string short_key(std::string_view key);

/// Returns the label of a run, without what the key `omitted` says.
std::string method_label(const Run& run, std::string_view omitted = {});

/// True for a method that neither compresses nor cuts sent entries: dense training.
bool sends_everything(const ResultFolder& folder, const Group& group);

/// True if the method draws what it sends: assumptions on its selection are about an expectation.
bool selects_at_random(const ResultFolder& folder, const Group& group);

/// A facet is some groups that are drawn in one figure.
struct Facet {
  std::string title;                // what its groups share, empty when there is one facet only
  std::vector<std::size_t> groups;  // at most kCurvesPerFigure, and one that does not compress
  std::vector<std::size_t> styles;  // of each group: the same method looks the same in all facets
};

inline constexpr std::size_t kCurvesPerFigure = 8;

/// Splits the groups by the value of a varying key so that no figure is overfull, or by their order
/// where no key achieves that. A method that does not compress, and would be alone in a figure, is
/// in all of them.
std::vector<Facet> split_into_facets(const ResultFolder& folder, const std::vector<Group>& groups);

/// Returns the style of every group, the same as in its facet.
std::vector<std::size_t> method_styles(const ResultFolder& folder,
                                       const std::vector<Group>& groups);

// A field is the methods that have worked on one objective and can be compared.

struct Field {
  std::string objective;  // for people
  std::string key;        // the objective's section
  std::vector<std::size_t> groups;
  std::vector<std::vector<std::size_t>> runs;      // the finished ones of each group
  std::vector<std::vector<std::size_t>> diverged;  // those of each group that are misses
};

std::vector<Field> fields_of(const ResultFolder& folder, const std::vector<Group>& groups);

/// Returns loss_gap where every run of the field knows it at its end, else loss.
Column quantity_of(const ResultFolder& folder, const Field& field);

/// Returns the path in status.json of what such a quantity is at the end of a run.
std::string_view final_path(Column quantity);

// Iterations of two methods are compared fairly only where both take the same number of samples:
// eight workers see eight times what one does, and so do eight local steps.

/// Returns how many samples of gradients an iteration of the run takes, over all workers that take
/// part. Absent where versions take more or fewer.
std::optional<double> samples_of_iteration(const Run& run);

/// Says that iterations of the field's finished runs take different numbers of samples, and which;
/// empty where they take the same.
std::string unequal_iterations(const ResultFolder& folder, const Field& field);

/// Returns whether the finished runs of the field took about as many samples each, from their start
/// to their end: no more than a twentieth apart.
bool took_equal_samples(const ResultFolder& folder, const Field& field);

}  // namespace residuum::reports
