#pragma once
// A text becomes sequences of tokens, each token labelled by its successor. A study names its text
// by the keys data, level, train_samples, and characters and data_seed of synthetic text.

#include "core/config/section.h"
#include "objectives/data/text.h"
#include "objectives/registry.h"
#include "objectives/torch/samples.h"

namespace residuum {

/// Makes samples of a text: sample i is the s = `sequence` tokens from the token i * `stride` on,
/// each labelled by its successor; a stride of 0 is s, so that windows do not overlap. Those of the
/// held-out text never do. Tokens after the last window are unused. A training text shorter than
/// one window is a usage error; a held-out text that is shorter is ignored.
NetworkData text_samples(TextDataset text, std::size_t sequence, std::size_t stride = 0);

/// Returns the number of those windows; the last token of a window needs a successor as its label.
std::size_t windows_in(std::size_t tokens, std::size_t sequence, std::size_t stride);

/// Loads the text that a section of a study names.
NetworkData load_text_data(const Section& section,
                           const ObjectiveContext& context,
                           std::size_t sequence,
                           UnknownWord unknown = UnknownWord::always);

}  // namespace residuum
