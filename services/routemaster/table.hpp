/// @file
/// Tables that commands print for people.

#pragma once

#include <string>
#include <vector>

namespace routemaster::service {

/// The rows of a table; the first row is the head.
using Rows = std::vector<std::vector<std::string>>;

/// Makes a foreign text printable, see `printable_text`, and cuts it to the width of a cell.
[[nodiscard]] std::string cell(std::string text);

/// Prints the rows with aligned columns.
void print_table(const Rows& rows);

}  // namespace routemaster::service
