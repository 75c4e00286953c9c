#include "objectives/data/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "objectives/data/byte_stream.h"
#include "objectives/data/catalogue.h"
#include "objectives/data/synthetic.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::usage_message;

using Numbers = std::vector<std::uint32_t>;

TEST(TokensOf, AreWordsBetweenBlanksAndEndEveryLine) {
  EXPECT_THAT(tokens_of(" the  cat\n\n sat\ton \r\n", TextLevel::word),
              ElementsAre("the", "cat", "<eos>", "<eos>", "sat", "on", "<eos>"));
  EXPECT_THAT(tokens_of("no break at the end", TextLevel::word),
              ElementsAre("no", "break", "at", "the", "end", "<eos>"));
  EXPECT_THAT(tokens_of("", TextLevel::word), ElementsAre());
}

TEST(TokensOf, AreTheCharactersOfUtf8) {
  EXPECT_THAT(tokens_of("a b\n", TextLevel::character), ElementsAre("a", " ", "b", "\n"));
  EXPECT_THAT(tokens_of("aδ梯🙂z", TextLevel::character),
              ElementsAre("a", "δ", "梯", "🙂", "z"));
  EXPECT_THAT(tokens_of("a\xff\xce", TextLevel::character), ElementsAre("a", "\xff", "\xce"));
}

TEST(TakeOutMarks, LeavesTheTextAndSaysWhatItTook) {
  const auto taken = [](std::string text) {
    const std::string note = take_out_marks(text);
    return text + "|" + note;
  };

  EXPECT_EQ(taken("a\nb\rc\r"), "a\nb\rc\r|");
  EXPECT_EQ(taken("\xef\xbb\xbf"
                  "a"),
            "a|; a byte order mark was left out");
  EXPECT_EQ(taken("a\r\n\r\r\nb"), "a\n\r\nb|; 2 line ends CR LF were read as LF");
}

TEST(VocabularyOf, IsInTheOrderOfFirstAppearanceWithTheUnknownLast) {
  const auto tokens = tokens_of("b a b c", TextLevel::word);

  const auto vocabulary = vocabulary_of(tokens, "t");

  EXPECT_THAT(vocabulary, ElementsAre("b", "a", "c", "<eos>", "<unk>"));
  EXPECT_EQ(encode(tokens, vocabulary), (Numbers{0, 1, 0, 2, 3}));
  EXPECT_EQ(encode(tokens_of("z a", TextLevel::word), vocabulary), (Numbers{4, 1, 3}));
}

TEST(VocabularyOf, KeepsTheUnknownOfTheTextWhereItStands) {
  EXPECT_THAT(vocabulary_of(tokens_of("b <unk> a", TextLevel::word), "t"),
              ElementsAre("b", "<unk>", "a", "<eos>"));
}

TEST(VocabularyOf, RefusesMoreWordsThanItCanHold) {
  std::string text;
  for (int i = 0; i < (1 << 18); ++i) {
    text += std::to_string(i) + ' ';
  }

  EXPECT_EQ(
      usage_message([&] { vocabulary_of(tokens_of(text, TextLevel::word), "big"); }),
      "'big' has more than the 262143 different words that a vocabulary can hold; replace rare "
      "ones by <unk>, or use level = \"character\"");
}

TEST(MakeText, HoldsOutTheLastTenthAndLearnsItsVocabularyFromTheRest) {
  const TextSource source{.name = "t", .train = "abababababababababzz"};

  const auto text = make_text(source, TextLevel::character, {});

  EXPECT_EQ(text.tokens.size(), 18U);
  EXPECT_THAT(text.vocabulary, ElementsAre("a", "b", "<unk>"));
  EXPECT_EQ(text.held_out, (Numbers{2, 2}));
  EXPECT_THAT(text.note, HasSubstr("18 characters to train on, 2 held out (the last tenth)"));
}

// 20 characters of 2 bytes; the last tenth are 2 characters, not 4 bytes.
TEST(MakeText, CountsAndSplitsCharactersNotBytes) {
  std::string greek;
  for (int i = 0; i < 10; ++i) {
    greek += "αβ";
  }

  const auto text = make_text({.name = "t", .train = greek}, TextLevel::character, {});

  EXPECT_EQ(text.tokens.size(), 18U);
  EXPECT_EQ(text.held_out, (Numbers{0, 1}));
  EXPECT_THAT(text.vocabulary, ElementsAre("α", "β", "<unk>"));
}

TEST(LoadText, TakesOutTheMarksOfOtherSystemsAndSaysSo) {
  const Folder folder;
  const auto file = folder.write("t.txt",
                                 "\xef\xbb\xbf"
                                 "ab\r\nab\r\n");

  const auto text = make_text(load_text(file, "nowhere"), TextLevel::character, {});

  EXPECT_THAT(text.vocabulary, ElementsAre("a", "b", "\n", "<unk>"));
  EXPECT_THAT(text.note,
              HasSubstr("; a byte order mark was left out; 2 line ends CR LF were read as LF"));
}

TEST(MakeText, TakesTheHeldOutTextThatThereIs) {
  const TextSource source{.name = "t", .train = "one two", .test = "two three"};

  const auto text = make_text(source, TextLevel::word, {});

  EXPECT_EQ(text.tokens, (Numbers{0, 1, 2}));
  EXPECT_EQ(text.held_out, (Numbers{1, 3, 2}));
}

TEST(MakeText, HasAWordForUnknownTokensWhereOneIsNeeded) {
  const auto words = [](const std::string& train, const std::string& test) {
    return make_text({.name = "t", .train = train, .test = test},
                     TextLevel::word,
                     {},
                     UnknownWord::where_needed)
        .vocabulary;
  };

  EXPECT_THAT(words("one two", "two"), ElementsAre("one", "two", "<eos>"));
  EXPECT_THAT(words("one two", "three"), ElementsAre("one", "two", "<eos>", "<unk>"));
  EXPECT_THAT(words("one <unk>", "one"), ElementsAre("one", "<unk>", "<eos>"));
}

TEST(MakeText, RefusesATextOfNothing) {
  EXPECT_EQ(usage_message([] { make_text({.name = "void", .train = ""}, TextLevel::word, {}); }),
            "'void' has no text to train on");
}

TEST(MakeText, HasAPrintThatTellsTextsAndLevelsApart) {
  const auto print = [](const std::string& train, TextLevel level) {
    return fingerprint(make_text({.name = "t", .train = train}, level, {}));
  };

  EXPECT_EQ(print("a b\n", TextLevel::word), print("a  b\n", TextLevel::word));
  EXPECT_NE(print("a b\n", TextLevel::word), print("a c\n", TextLevel::word));
  EXPECT_NE(print("ab", TextLevel::word), print("ab", TextLevel::character));
}

class VocabularyCache : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return vocabulary_file(folder_.path(), "abc-3"); }
  void store() const { store_vocabulary(folder_.path(), "abc-3", words_); }
  auto load() const { return load_vocabulary(folder_.path(), "abc-3"); }

  Folder folder_;
  std::vector<std::string> words_{"the", "\xff\xfe", "<eos>"};
};

TEST_F(VocabularyCache, GivesBackTheWordsItWasGiven) {
  EXPECT_EQ(load(), std::nullopt);
  store();

  EXPECT_EQ(load(), words_);
  EXPECT_EQ(load_vocabulary(folder_.path(), "abc-4"), std::nullopt);
}

TEST_F(VocabularyCache, TakesADamagedOrForeignFileForNone) {
  store();
  const std::string whole = read_bytes(file());
  for (std::size_t kept = 0; kept < whole.size(); ++kept) {
    folder_.write(file().filename(), whole.substr(0, kept));
    EXPECT_EQ(load(), std::nullopt) << kept;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    folder_.write(file().filename(), damaged);
    EXPECT_EQ(load(), std::nullopt) << i;
  }
  store_vocabulary(folder_.path(), "other-9", words_);
  std::filesystem::copy_file(vocabulary_file(folder_.path(), "other-9"),
                             file(),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(load(), std::nullopt);
}

TEST_F(VocabularyCache, IsFilledAndUsedByMakeText) {
  const TextSource source{.name = "t", .train = "b a b\n"};

  const auto first = make_text(source, TextLevel::word, folder_.path());
  const auto kept = *std::filesystem::directory_iterator(folder_.path());
  const std::string content = read_bytes(kept.path());
  // A later run numbers words by the vocabulary that it finds.
  const auto print = kept.path().stem().string().substr(std::string("vocabulary-").size());
  store_vocabulary(folder_.path(), print, {"a", "b", "<eos>", "<unk>"});
  const auto second = make_text(source, TextLevel::word, folder_.path());
  // One that words cannot be numbered by is made anew, however well it was sealed.
  for (const std::vector<std::string>& useless :
       {std::vector<std::string>{"b", "a", "<eos>"}, {"b", "b", "a", "<eos>", "<unk>"}}) {
    store_vocabulary(folder_.path(), print, useless);
    EXPECT_EQ(make_text(source, TextLevel::word, folder_.path()).tokens, first.tokens);
    EXPECT_EQ(read_bytes(kept.path()), content);
  }
  folder_.write(kept.path().filename(), "damaged");
  const auto third = make_text(source, TextLevel::word, folder_.path());

  EXPECT_EQ(first.tokens, (Numbers{0, 1, 0, 2}));
  EXPECT_EQ(second.tokens, (Numbers{1, 0, 1, 2}));
  EXPECT_EQ(third.tokens, first.tokens);
  EXPECT_EQ(read_bytes(kept.path()), content);
}

TEST(MarkovText, HasTheTransitionsAndTheEntropyOfItsChain) {
  const std::string text = make_markov_text({.characters = 40000});
  int successors = 0;
  std::vector<double> letters(16);
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    successors += (text[i] - 'a' + 1) % 16 == text[i + 1] - 'a' ? 1 : 0;
    letters.at(static_cast<std::size_t>(text[i] - 'a')) += 1.0 / 40000;
  }

  // 1/2 + 1/32, six standard errors of 0.0025; letters 1/16, correlated, ten of 0.0012.
  EXPECT_NEAR(successors / 39999.0, 0.53125, 0.015);
  EXPECT_THAT(letters, ::testing::Each(::testing::DoubleNear(0.0625, 0.012)));
  EXPECT_NEAR(markov_entropy(0.5), 1.9606, 5e-5);  // by hand
  EXPECT_DOUBLE_EQ(markov_entropy(0), std::log(16));
  EXPECT_EQ(markov_entropy(1), 0);
}

TEST(LoadText, KnowsSyntheticTextAndPathsAndRefusesOtherKinds) {
  const Folder folder;
  const auto path = folder.write("some/novel.txt.xz", testing::xz("It was a dark night.\n"));

  EXPECT_EQ(load_text("synthetic-text", "nowhere").train.size(), 20000U);
  EXPECT_EQ(load_text(path.string(), "nowhere").train, "It was a dark night.\n");
  EXPECT_EQ(load_text(path.string(), "nowhere").name, "novel.txt");
  EXPECT_FALSE(load_text(path.string(), "nowhere").test.has_value());
  EXPECT_THAT(usage_message([] { load_text("mnist", "d"); }),
              ::testing::AllOf(HasSubstr("'mnist' holds images"), HasSubstr("tinyshakespeare")));
  EXPECT_THAT(usage_message([] { load_images("wikitext-2", "d"); }), HasSubstr("holds text"));
  EXPECT_THAT(usage_message([] { load_text("wikitext2", "d"); }),
              HasSubstr("did you mean 'wikitext-2'?"));
}

}  // namespace
}  // namespace residuum
