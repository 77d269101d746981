/// @file
/// Tables that commands print for people.

#pragma once

#include <string>
#include <vector>

namespace routemaster::service {

/// Cells of a table, the first row being its head.
using Rows = std::vector<std::vector<std::string>>;

/// A text of others as `printable_text`, cut to what a cell takes.
[[nodiscard]] std::string cell(std::string text);

/// Prints the rows, their columns below each other.
void print_table(const Rows& rows);

}  // namespace routemaster::service
