#include "experiments/program/job_options.h"

#include <CLI/CLI.hpp>
#include <regex>
#include <string>

#include "core/text.h"

namespace residuum {
namespace {

/// Returns a check that the whole text has the form of the pattern.
CLI::Validator has_form(const char* pattern, const std::string& complaint) {
  return {[pattern, complaint](std::string& text) {
            constexpr std::size_t kLongest = 200;
            const bool is_good =
                text.size() <= kLongest && std::regex_match(text, std::regex(pattern));
            return is_good ? std::string() : complaint + ", got '" + harmless(text) + "'";
          },
          ""};
}

CLI::Validator is_count() {
  return has_form("[1-9][0-9]{0,8}", "must be a whole number from 1 on");
}

/// A line of the script stays one line, whatever the terminal of its reader makes of it.
std::string shell_line_complaint(const std::string& text) {
  return !text.empty() && harmless(text) == text
             ? std::string()
             : "must be one line of shell, got '" + harmless(text) + "'";
}

/// The forms that `man sbatch` names, in which what is below the first number has its usual range:
/// minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM and D-HH:MM:SS.
std::string time_complaint(const std::string& text) {
  const char* const kForms =
      "([0-9]{1,6}|[0-9]{1,6}(:[0-5]?[0-9]){1,2}|[0-9]{1,6}-([01]?[0-9]|2[0-3])(:[0-5]?[0-9]){0,2}"
      ")";
  constexpr std::size_t kLongest = 30;
  const bool is_good = text.size() <= kLongest && std::regex_match(text, std::regex(kForms));
  return is_good ? std::string()
                 : "must be a time of Slurm such as 90 (minutes), 2:00:00 or 1-12:00, with hours "
                   "below 24 behind days, and minutes and seconds below 60; got '" +
                       harmless(text) + "'";
}

}  // namespace

void add_job(CLI::App& command, JobOptions& job) {
  constexpr const char* kName = "[A-Za-z0-9_][A-Za-z0-9_.,@+-]*";
  command.add_option("--time", job.time, "slurm: most time of a task: minutes, H:MM:SS or D-HH:MM")
      ->check(time_complaint);
  command.add_option("--mem", job.memory, "slurm: memory of a node, such as 4G")
      ->check(has_form("[0-9]+[KMGT]?", "must be a size of Slurm such as 500M or 16G"));
  command.add_option("--partition", job.partition, "slurm: the partition")
      ->check(has_form(kName, "must be a name of letters, digits and _ . , @ + -"));
  command.add_option("--account", job.account, "slurm: the account")
      ->check(has_form(kName, "must be a name of letters, digits and _ . , @ + -"));
  command.add_option("--tasks", job.tasks, "slurm: most tasks of the array (short runs share one)")
      ->check(is_count());
  command
      .add_option("--processes",
                  job.processes,
                  "slurm: processes of a task (one where runs are short, else its workers)")
      ->check(is_count());
  command.add_option("--before", job.before, "slurm: a line of shell before the program starts")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(shell_line_complaint);
}

}  // namespace residuum
