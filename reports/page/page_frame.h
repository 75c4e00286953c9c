#pragma once
// The frame of a page: its head with the security policy, and the texts that the policy lets in.

#include <string>
#include <string_view>

namespace residuum::reports {

/// An asset is a text of reports/page/web that every page holds. The build embeds them.
struct Asset {
  std::string_view text;
  std::string_view sha256;  // in hexadecimal digits
};

Asset page_style();
Asset page_script();

/// Returns the library that the script draws figures with; its text is empty in a program that was
/// built where npm had not fetched it, and figures are then the static ones.
Asset page_library();

/// Returns the licences of the library, one after the other.
Asset page_library_licences();

/// Returns "sha256-..." in base 64, as security policies write it, of 64 hexadecimal digits.
std::string policy_hash(std::string_view hexadecimal);

/// Returns all up to the body. The page may load nothing from anywhere, and may run and apply only
/// the program's own script and style: what a name smuggles in stays dead.
std::string page_head(std::string_view title);

/// Returns the data as an element that is not run. No '<' is left in it.
std::string data_element(std::string_view json);

/// Returns the scripts, which stand at the end of the body.
std::string page_scripts();

}  // namespace residuum::reports
