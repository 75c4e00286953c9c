#pragma once
// The readers of foreign bytes, each behind the same door: fuzzers knock at it with what they make
// up, a test with the files that are kept in corpora/.

#include <span>
#include <string_view>

namespace residuum::fuzzing {

/// Gives the bytes to a reader. Returns where they are taken and throws an Error where they are
/// refused. Anything else (another exception, a fault that a sanitizer sees, a hang) is a find.
using Target = void (*)(std::string_view bytes);

void take_study(std::string_view bytes);          // the form of a study file
void take_sections(std::string_view bytes);       // a study file, and what its values mean
void take_page_tables(std::string_view bytes);    // a description of tables of pages
void take_libsvm(std::string_view bytes);         // a LIBSVM file
void take_targets(std::string_view bytes);        // the same with the targets of a regression
void take_classes(std::string_view bytes);        // the same with many classes
void take_idx(std::string_view bytes);            // parts `images` and `labels`
void take_cifar10(std::string_view bytes);        // a CIFAR-10 file
void take_text(std::string_view bytes);           // a text to train on
void take_archive(std::string_view bytes);        // gzip and xz
void take_vocabulary(std::string_view bytes);     // a kept vocabulary, with or without its hash
void take_facts(std::string_view bytes);          // a kept minimizer
void take_npy(std::string_view bytes);            // vectors for `residuum inspect`
void take_csv(std::string_view bytes);            // the same as text
void take_safetensors(std::string_view bytes);    // the numbers of one worker
void take_shard(std::string_view bytes);          // the tokens of a text, as numbers
void take_npz(std::string_view bytes);            // an archive of arrays
void take_array(std::string_view bytes);          // samples or labels for a module
void take_answer(std::string_view bytes);         // of a compressor to a vector of six numbers
void take_recorded(std::string_view bytes);       // gradients of a file (T, P, d)
void take_checkpoint(std::string_view bytes);     // a whole file, or parts `head` and `state`
void take_message(std::string_view bytes);        // of a worker, after what is known of it
void take_table(std::string_view bytes);          // iterations.csv
void take_json(std::string_view bytes);           // config.json, status.json, summary.json
void take_result_folder(std::string_view bytes);  // parts, a file each
void take_resumed_run(std::string_view bytes);    // `kind`, changes of the `state`, other files

struct NamedTarget {
  std::string_view name;
  Target take = nullptr;
};

/// All of the above.
std::span<const NamedTarget> targets();

/// Whether the reader took the bytes; false where it refused them by an Error.
bool accepts(Target take, std::string_view bytes);

}  // namespace residuum::fuzzing
