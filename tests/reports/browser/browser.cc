#include "tests/reports/browser/browser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace residuum::reports::testing {
namespace {

bool is_installed(const std::string& program) {
  // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): fixed programs, one thread
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// Starts chromedriver on a free port; what it prints goes to a pipe.
std::pair<pid_t, int> start_driver() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw std::runtime_error("no pipe");
  }
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = "chromedriver";
  std::string port = "--port=0";
  std::array<char*, 3> arguments{name.data(), port.data(), nullptr};
  pid_t driver = 0;
  const int error =
      posix_spawnp(&driver, name.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    throw std::runtime_error("chromedriver cannot be started");
  }
  return {driver, ends[0]};
}

/// Reads the port that chromedriver says it listens on.
int read_port(int pipe) {
  constexpr std::string_view kWords = "successfully on port ";
  std::string said;
  std::array<char, 256> buffer{};
  for (ssize_t n = 0; (n = ::read(pipe, buffer.data(), buffer.size())) > 0;) {
    said.append(buffer.data(), static_cast<std::size_t>(n));
    const std::size_t at = said.find(kWords);
    if (at != std::string::npos && said.find('.', at) != std::string::npos) {
      return std::atoi(said.c_str() + at + kWords.size());  // NOLINT(cert-err34-c): its own words
    }
  }
  throw std::runtime_error("chromedriver names no port: " + said);
}

/// Returns whether the answer has as many bytes as it says.
bool is_whole(const std::string& answer) {
  const std::size_t body = answer.find("\r\n\r\n");
  const std::size_t at = answer.find("Content-Length:");
  if (body == std::string::npos || at == std::string::npos) {
    return false;
  }
  return answer.size() - body - 4 >= std::stoul(answer.substr(at + 15));
}

}  // namespace

std::string Browser::missing() {
  for (const char* program : {"chromium", "chromedriver"}) {
    if (!is_installed(program)) {
      return fmt::format("{} is not installed (chromium, chromium-driver)", program);
    }
  }
  return {};
}

Browser::Browser() {
  std::string profile = (std::filesystem::temp_directory_path() / "chromium-XXXXXX").string();
  if (::mkdtemp(profile.data()) == nullptr) {
    throw std::runtime_error("no folder for the browser");
  }
  profile_ = profile;
  const auto [driver, pipe] = start_driver();
  driver_ = driver;
  port_ = read_port(pipe);
  Json options{{"args",
                {"--headless",
                 "--no-sandbox",
                 "--disable-gpu",
                 "--force-color-profile=srgb",
                 "--window-size=1400,1000",
                 "--user-data-dir=" + profile}}};
  Json wanted{{"goog:chromeOptions", options},
              {"goog:loggingPrefs", Json{{"browser", "ALL"}, {"performance", "ALL"}}}};
  const Json answer =
      ask("POST", "/session", Json{{"capabilities", Json{{"alwaysMatch", wanted}}}});
  session_ = answer.at("sessionId").get<std::string>();
}

Browser::~Browser() {
  try {
    ask("DELETE", "/session/" + session_, Json::object());
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  ::kill(driver_, SIGTERM);
  ::waitpid(driver_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(profile_, ignored);
}

std::string Browser::exchange(const std::string& request) const {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as sockets want it
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket);
    throw std::runtime_error("chromedriver does not listen");
  }
  for (std::size_t sent = 0; sent < request.size();) {
    const ssize_t n = ::send(socket, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      break;
    }
    sent += static_cast<std::size_t>(n);
  }
  std::string answer;
  std::array<char, 65536> buffer{};
  while (!is_whole(answer)) {
    const ssize_t n = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (n <= 0) {
      break;
    }
    answer.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::close(socket);
  return answer.substr(std::min(answer.size(), answer.find("\r\n\r\n") + 4));
}

Json Browser::ask(const std::string& method, const std::string& path, const Json& body) {
  const std::string content = method == "GET" || method == "DELETE" ? "" : body.dump();
  const Json answer = Json::parse(exchange(
      fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nConnection: close\r\n"
                  "Content-Type: application/json\r\n\r\n{}",
                  method,
                  path,
                  content.size(),
                  content)));
  const Json& value = answer.at("value");
  if (value.is_object() && value.contains("error")) {
    throw std::runtime_error(value.at("message").get<std::string>());
  }
  return value;
}

void Browser::open(const std::filesystem::path& file, const std::string& fragment) {
  const std::string base = "/session/" + session_;
  ask("POST", base + "/url", Json{{"url", "about:blank"}});
  complaints();
  requests();
  ask("POST", base + "/url", Json{{"url", "file://" + file.string() + fragment}});
  wait_until_drawn();
}

void Browser::wait_until_drawn() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (!run("return document.documentElement.dataset.ready === '1'").get<bool>()) {
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error("the page's figures are not drawn after five minutes");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void Browser::open_without_scripts(const std::filesystem::path& file) {
  tell("Emulation.setScriptExecutionDisabled", Json{{"value", true}});
  ask("POST", "/session/" + session_ + "/url", Json{{"url", "file://" + file.string()}});
  // The page's own scripts have not run by now and do not run later; those of the tests may.
  tell("Emulation.setScriptExecutionDisabled", Json{{"value", false}});
}

Json Browser::run(const std::string& body, const Json& arguments) {
  return ask("POST",
             "/session/" + session_ + "/execute/sync",
             Json{{"script", body}, {"args", arguments}});
}

std::string Browser::element(const std::string& selector) {
  const Json found = ask("POST",
                         "/session/" + session_ + "/element",
                         Json{{"using", "css selector"}, {"value", selector}});
  return found.begin().value().get<std::string>();
}

void Browser::click(const std::string& selector) {
  ask("POST",
      fmt::format("/session/{}/element/{}/click", session_, element(selector)),
      Json::object());
}

void Browser::type(const std::string& selector, const std::string& keys) {
  ask("POST",
      fmt::format("/session/{}/element/{}/value", session_, element(selector)),
      Json{{"text", keys}});
}

void Browser::drag(const std::string& selector, double x0, double y0, double x1, double y1) {
  run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})",
      Json::array({selector}));
  const Json box =
      run("const box = document.querySelector(arguments[0]).getBoundingClientRect();"
          "return [box.left, box.top, box.width, box.height]",
          Json::array({selector}));
  const auto move = [&](double x, double y) {
    return Json{{"type", "pointerMove"},
                {"duration", 50},
                {"x", std::lround(box[0].get<double>() + x * box[2].get<double>())},
                {"y", std::lround(box[1].get<double>() + y * box[3].get<double>())}};
  };
  const Json actions = Json::array({move(x0, y0),
                                    Json{{"type", "pointerDown"}, {"button", 0}},
                                    move((x0 + x1) / 2, (y0 + y1) / 2),
                                    move(x1, y1),
                                    Json{{"type", "pointerUp"}, {"button", 0}}});
  const Json mouse{{"type", "pointer"},
                   {"id", "mouse"},
                   {"parameters", Json{{"pointerType", "mouse"}}},
                   {"actions", actions}};
  ask("POST", "/session/" + session_ + "/actions", Json{{"actions", Json::array({mouse})}});
}

void Browser::tell(const std::string& command, const Json& parameters) {
  ask("POST",
      "/session/" + session_ + "/goog/cdp/execute",
      Json{{"cmd", command}, {"params", parameters}});
}

void Browser::set_width(int pixels) {
  tell("Emulation.setDeviceMetricsOverride",
       Json{{"width", pixels}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

Json Browser::log(const std::string& kind) {
  return ask("POST", "/session/" + session_ + "/se/log", Json{{"type", kind}});
}

std::vector<std::string> Browser::complaints() {
  std::vector<std::string> lines;
  for (const auto& entry : log("browser")) {
    if (entry.at("level") != "INFO" && entry.at("level") != "DEBUG") {
      lines.push_back(entry.at("message").get<std::string>());
    }
  }
  return lines;
}

std::vector<std::string> Browser::requests() {
  std::vector<std::string> addresses;
  for (const auto& entry : log("performance")) {
    const Json message = Json::parse(entry.at("message").get<std::string>()).at("message");
    if (message.at("method") == "Network.requestWillBeSent") {
      addresses.push_back(message.at("params").at("request").at("url").get<std::string>());
    }
  }
  return addresses;
}

}  // namespace residuum::reports::testing
