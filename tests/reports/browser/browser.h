#pragma once
// A Browser is Debian's chromium without a window, driven through chromedriver's HTTP interface
// (W3C WebDriver): tests click and type as a reader does.

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "reports/results/files.h"

namespace residuum::reports::testing {

/// Keys beyond letters, as WebDriver names them.
inline constexpr const char* kSpaceKey = " ";
inline constexpr const char* kEnterKey = "\xee\x80\x87";
inline constexpr const char* kEscapeKey = "\xee\x80\x8c";
inline constexpr const char* kRightKey = "\xee\x80\x94";

class Browser {
 public:
  /// Returns why there is no browser to test with; nothing where there is one.
  static std::string missing();

  Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  Browser(Browser&&) = delete;
  Browser& operator=(Browser&&) = delete;
  ~Browser();

  /// Opens a file anew, with what stands after '#', and waits until its script has run.
  void open(const std::filesystem::path& file, const std::string& fragment = "");

  /// Opens a file as a browser does that runs no scripts.
  void open_without_scripts(const std::filesystem::path& file);

  /// Waits until all figures are drawn; throws after five minutes.
  void wait_until_drawn();

  /// Returns what the body of a function returns, run in the page.
  Json run(const std::string& body, const Json& arguments = Json::array());
  std::string text(const std::string& body) { return run(body).get<std::string>(); }
  int number(const std::string& body) { return run(body).get<int>(); }

  /// Clicks in the middle of the first element of a CSS selector, which must be visible.
  void click(const std::string& selector);
  /// Gives the element the focus and types.
  void type(const std::string& selector, const std::string& keys);
  /// Drags the mouse over an element, from and to parts of its width and height.
  void drag(const std::string& selector, double x0, double y0, double x1, double y1);

  /// Sends a command of the DevTools protocol.
  void tell(const std::string& command, const Json& parameters);
  void set_width(int pixels);

  /// Returns warnings and errors of the console since the last call.
  std::vector<std::string> complaints();
  /// Returns the addresses that were asked for since the last call.
  std::vector<std::string> requests();

 private:
  Json ask(const std::string& method, const std::string& path, const Json& body);
  Json log(const std::string& kind);
  std::string element(const std::string& selector);
  std::string exchange(const std::string& request) const;

  pid_t driver_ = 0;
  int port_ = 0;
  std::filesystem::path profile_;
  std::string session_;
};

}  // namespace residuum::reports::testing
