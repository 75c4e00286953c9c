// This is the table of known data sets. experiments/fetch_data has the same files, addresses and
// checksums, and a test compares the two. Checksums are of the files as published.

#include <string>
#include <utility>

#include "objectives/data/catalogue.h"

namespace residuum {
namespace {

// Names a file of LIBSVM's data collection (Chang and Lin).
DataFile libsvm_file(const std::string& file, const std::string& sha256) {
  return {.file = file,
          .sha256 = sha256,
          .urls = {"https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/" + file}};
}

// Names a file of Vowpal Wabbit's tests, at a commit that has it with this checksum.
DataFile vw_file(const std::string& place, const std::string& file, const std::string& sha256) {
  return {.file = file,
          .sha256 = sha256,
          .urls = {"https://raw.githubusercontent.com/VowpalWabbit/vowpal_wabbit/" + place + "/" +
                   file}};
}

DatasetEntry rcv1_entry() {
  return {.name = "rcv1-vw",
          .kind = DataKind::sparse,
          .summary = "1000 + 500 samples, 47236 sparse features, unit rows; news, a part of RCV1",
          .terms = "no licence text known",
          .train = {vw_file("6bc08155407ac33294db0808271b346f1bbe9260/test/train-sets",
                            "rcv1_small.dat",
                            "348d59a15f8161852b817fedd45a0a9efa5e2602ea86d9e920ba7079f633e084")},
          .test = {vw_file("96ce1cf92fd88abca706440e9ddbd7987eefaf74/test/test-sets",
                           "rcv1_small_test.data",
                           "c0f5f4a00497c5cec53b47c0ebb8428cc7c364d436ac10f64b5be33d90bfe293")},
          .features = 47236};
}

DataFile mnist_file(const std::string& file, const std::string& sha256) {
  return {.file = file,
          .sha256 = sha256,
          .urls = {"https://ossci-datasets.s3.amazonaws.com/mnist/" + file,
                   "https://storage.googleapis.com/cvdf-datasets/mnist/" + file}};
}

std::vector<DatasetEntry> synthetic_entries() {
  return {{.name = "synthetic-logistic",
           .kind = DataKind::sparse,
           .summary = "2000 + 500 samples, 100 features; logistic model with a known truth",
           .terms = "made from a seed",
           .train = {},
           .test = {}},
          {.name = "synthetic-gisette",
           .kind = DataKind::sparse,
           .summary = "6000 + 1000 samples, 5000 dense features; the scale of gisette, L = 843",
           .terms = "made from a seed",
           .train = {},
           .test = {}},
          {.name = "synthetic-images",
           .kind = DataKind::images,
           .summary = "6000 + 1000 images, 28 x 28, 10 classes; mixtures of a teacher's pictures",
           .terms = "made from a seed",
           .train = {},
           .test = {}},
          {.name = "synthetic-text",
           .kind = DataKind::text,
           .summary = "20000 + 4000 characters of a Markov chain on 16 letters; entropy 1.96 nats",
           .terms = "made from a seed",
           .train = {},
           .test = {}}};
}

std::vector<DatasetEntry> libsvm_entries() {
  return {{.name = "a9a",
           .kind = DataKind::sparse,
           .summary = "32561 + 16281 samples, 123 binary features; income from a census",
           .terms = "UCI Adult, CC BY 4.0",
           .train = {libsvm_file(
               "a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906")},
           .test = {libsvm_file(
               "a9a.t", "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9")}},
          {.name = "mushrooms",
           .kind = DataKind::sparse,
           .summary = "8124 samples, 112 binary features; edible or not",
           .terms = "UCI Mushroom, CC BY 4.0",
           .train = {libsvm_file(
               "mushrooms", "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538")},
           .test = {}},
          {.name = "w8a",
           .kind = DataKind::sparse,
           .summary = "49749 + 14951 samples, 300 binary features; text categories (Platt 1998)",
           .terms = "no licence text known",
           .train = {libsvm_file("w8a", "")},
           .test = {libsvm_file("w8a.t", "")}},
          {.name = "madelon",
           .kind = DataKind::sparse,
           .summary = "2000 + 600 samples, 500 dense unscaled features; artificial (NIPS 2003)",
           .terms = "UCI Madelon, CC BY 4.0",
           .train = {libsvm_file(
               "madelon", "4801c452441772b47674fa8deb3724b1cb897eff49ccd8d47078367080c05b54")},
           .test = {libsvm_file(
               "madelon.t", "ae60251b63a46c6ace348b77749e79e25d4098d629d1dead2852c3d4daf1f8ea")}},
          {.name = "heart_scale",
           .kind = DataKind::sparse,
           .summary = "270 samples, 13 features in [-1, 1]; heart disease or not",
           .terms = "LIBSVM, BSD-3-Clause",
           .train = {libsvm_file(
               "heart_scale", "5defa0a4c4c5bdaf3f55ae3828310252e8565c13ee37ce279e0b86d82e7f4ce9")},
           .test = {}}};
}

DatasetEntry mnist_entry() {
  return {.name = "mnist",
          .kind = DataKind::images,
          .summary = "60000 + 10000 images, 28 x 28, 10 classes; handwritten digits",
          .terms = "CC BY-SA 3.0",
          .train = {mnist_file("train-images-idx3-ubyte.gz",
                               "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
                    mnist_file("train-labels-idx1-ubyte.gz",
                               "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c")},
          .test = {mnist_file("t10k-images-idx3-ubyte.gz",
                              "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
                   mnist_file("t10k-labels-idx1-ubyte.gz",
                              "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6")}};
}

DataFile cifar_batch(int number, const std::string& sha256) {
  return {.file = "data_batch_" + std::to_string(number) + ".bin", .sha256 = sha256, .urls = {}};
}

// The first 1000 test images serve if the whole test file is not there.
DatasetEntry cifar10_entry() {
  return {
      .name = "cifar10",
      .kind = DataKind::images,
      .summary = "50000 + 10000 images, 3 x 32 x 32, 10 classes; photographs",
      .terms = "research use, cite Krizhevsky 2009",
      .train = {cifar_batch(1, "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
                cifar_batch(2, "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
                cifar_batch(3, "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
                cifar_batch(4, "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
                cifar_batch(5, "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add")},
      .test = {{.file = "test_batch.bin", .sha256 = "", .urls = {}},
               {.file = "test_batch.first1000.bin", .sha256 = "", .urls = {}}},
      .archive =
          DataFile{.file = "cifar-10-binary.tar.gz",
                   .sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
                   .urls = {"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"}}};
}

// Names a file of the tokenised text that PyTorch's example of a word language model ships.
DataFile wikitext_file(const std::string& file, const std::string& sha256) {
  return {.file = file,
          .sha256 = sha256,
          .urls = {"https://raw.githubusercontent.com/pytorch/examples/main/word_language_model/"
                   "data/wikitext-2/" +
                   file}};
}

std::vector<DatasetEntry> text_entries() {
  return {
      {.name = "wikitext-2",
       .kind = DataKind::text,
       .summary = "2088628 + 245569 words, 33278 different; articles of Wikipedia",
       .terms = "CC BY-SA 3.0, Merity, Xiong, Bradbury, Socher 2016",
       .train = {wikitext_file("train.txt",
                               "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f")},
       .test = {wikitext_file("test.txt",
                              "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0")}},
      {.name = "tinyshakespeare",
       .kind = DataKind::text,
       .summary = "1115394 characters, 65 different, the last tenth held out; Shakespeare's plays",
       .terms = "public domain; Karpathy 2015",
       .train = {{.file = "input.txt",
                  .sha256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
                  .urls = {"https://raw.githubusercontent.com/karpathy/char-rnn/master/data/"
                           "tinyshakespeare/input.txt"}}},
       .test = {}}};
}

std::vector<DatasetEntry> make_table() {
  std::vector<DatasetEntry> table = synthetic_entries();
  for (auto&& entry : libsvm_entries()) {
    table.push_back(std::move(entry));
  }
  table.push_back(rcv1_entry());
  table.push_back(mnist_entry());
  table.push_back(cifar10_entry());
  for (auto&& entry : text_entries()) {
    table.push_back(std::move(entry));
  }
  return table;
}

}  // namespace

std::span<const DatasetEntry> datasets() {
  static const std::vector<DatasetEntry> table = make_table();
  return table;
}

}  // namespace residuum
