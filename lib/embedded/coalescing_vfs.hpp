/// @file
/// How SQLite reaches the files of a journal.

#pragma once

namespace routemaster::embedded {

/// Name of a SQLite VFS that keeps files locked against other processes and shares memory between
/// connections of this process without a file, as "unix-excl" does (https://sqlite.org/vfs.html),
/// and writes what a commit adds to the log in one call.
///
/// SQLite writes each page of a commit in two calls, at unaligned places, so that the kernel looks
/// up and changes many of its own pages twice. This VFS gathers the bytes until they are synced,
/// read, or too many. When the disk refuses them the sync fails: SQLite considers no commit done
/// before. Behind each synced commit it leaves a mark, which distinguishes damage from a commit
/// that never finished (`WriteAheadLog`).
///
/// Thread safe. Throws `Failure` when it cannot be registered.
[[nodiscard]] const char* coalescing_vfs();

}  // namespace routemaster::embedded
