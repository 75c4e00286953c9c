#include "tests/fuzzing/targets.h"

#include <array>

#include "core/error.h"

namespace residuum::fuzzing {

std::span<const NamedTarget> targets() {
  static constexpr std::array kTargets{
      NamedTarget{.name = "study", .take = take_study},
      NamedTarget{.name = "sections", .take = take_sections},
      NamedTarget{.name = "page_tables", .take = take_page_tables},
      NamedTarget{.name = "libsvm", .take = take_libsvm},
      NamedTarget{.name = "targets", .take = take_targets},
      NamedTarget{.name = "classes", .take = take_classes},
      NamedTarget{.name = "idx", .take = take_idx},
      NamedTarget{.name = "cifar10", .take = take_cifar10},
      NamedTarget{.name = "text", .take = take_text},
      NamedTarget{.name = "archive", .take = take_archive},
      NamedTarget{.name = "vocabulary", .take = take_vocabulary},
      NamedTarget{.name = "facts", .take = take_facts},
      NamedTarget{.name = "npy", .take = take_npy},
      NamedTarget{.name = "csv", .take = take_csv},
      NamedTarget{.name = "safetensors", .take = take_safetensors},
      NamedTarget{.name = "shard", .take = take_shard},
      NamedTarget{.name = "npz", .take = take_npz},
      NamedTarget{.name = "array", .take = take_array},
      NamedTarget{.name = "answer", .take = take_answer},
      NamedTarget{.name = "recorded", .take = take_recorded},
      NamedTarget{.name = "checkpoint", .take = take_checkpoint},
      NamedTarget{.name = "message", .take = take_message},
      NamedTarget{.name = "table", .take = take_table},
      NamedTarget{.name = "json", .take = take_json},
      NamedTarget{.name = "result_folder", .take = take_result_folder},
      NamedTarget{.name = "resumed_run", .take = take_resumed_run},
  };
  return kTargets;
}

bool accepts(Target take, std::string_view bytes) {
  try {
    take(bytes);
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace residuum::fuzzing
