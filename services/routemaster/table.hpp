/// @file
/// Tables that commands print.

#pragma once

#include <string>
#include <vector>

namespace routemaster::service {

/// The rows of a table; the first row is the header.
using Rows = std::vector<std::vector<std::string>>;

/// Sanitises an untrusted text, see `printable_text`, and truncates it to the width of a cell.
[[nodiscard]] std::string cell(std::string text);

/// Prints the rows with aligned columns.
void print_table(const Rows& rows);

}  // namespace routemaster::service
