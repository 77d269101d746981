/// @file
/// How SQLite reaches the files of a journal.

#pragma once

namespace routemaster::embedded {

/// SQLite's name for access to files that keeps them locked against other processes, and lets
/// connections of this one share what they have to without a file, as "unix-excl" does
/// (https://sqlite.org/vfs.html), and writes what a commit adds to the log in one go.
///
/// SQLite writes each page of a commit in two calls, at places that are no multiple of anything,
/// so that the kernel has to look up and change many of its own pages twice. What is to be written
/// is gathered here until it is synced, read, or too much. When the disk does not take it, the
/// sync fails: SQLite holds no commit for done before that. Behind a commit that was synced a mark
/// is left, by which damage can be told from a commit that was not (`WriteAheadLog`).
///
/// Thread safe. Throws `Failure` when it cannot be registered.
[[nodiscard]] const char* coalescing_vfs();

}  // namespace routemaster::embedded
