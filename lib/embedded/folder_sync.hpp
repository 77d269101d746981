/// @file
/// Makes a new or renamed file durable.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "core/system/file_descriptor.hpp"

namespace routemaster::embedded {

/// Syncs the folder of a file, which makes the name of the file durable. Returns false and sets
/// `errno` on error.
inline bool sync_folder_of(const std::filesystem::path& file) {
    const detail::FileDescriptor folder{
        ::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return folder && ::fsync(folder.get()) == 0;
}

}  // namespace routemaster::embedded
