/// @file
/// The SQLite VFS (file system layer) for the files of a journal.

#pragma once

namespace routemaster::embedded {

/// The name of a SQLite VFS (https://sqlite.org/vfs.html). Like "unix-excl", the VFS keeps files
/// locked against other processes, and shares memory between connections of this process without a
/// file. Unlike "unix-excl", the VFS writes all bytes that a commit adds to the log in one call.
///
/// SQLite writes each page of a commit in two unaligned calls, so the kernel looks up and changes
/// many pages of its cache twice. This VFS buffers the bytes until SQLite syncs or reads the log,
/// or until the buffer is full. Buffering is safe, because SQLite considers no commit done before
/// the sync, and the sync fails if the disk refuses the bytes. After each synced commit the VFS
/// writes a mark. `WriteAheadLog` uses the mark to distinguish damage from a commit that never
/// finished.
///
/// Thread safe. Throws `Failure` if SQLite refuses to register the VFS.
[[nodiscard]] const char* coalescing_vfs();

}  // namespace routemaster::embedded
