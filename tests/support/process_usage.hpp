/// @file
/// The resources used by a process.

#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>

namespace routemaster::test {

/// The processor time that a process has used so far.
inline std::chrono::duration<double> processor_time(pid_t pid) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    // The name of the process, in parentheses, may contain any characters. utime and stime are the
    // 14th and 15th field.
    std::istringstream fields{text.substr(text.rfind(')') + 1)};
    std::string skipped;
    for (int i = 3; i < 14; ++i) fields >> skipped;
    double user = 0;
    double system = 0;
    if (!(fields >> user >> system)) throw std::runtime_error{"no such process"};
    return std::chrono::duration<double>{(user + system) /
                                         static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

/// The number of open files and sockets of a process.
inline std::size_t open_files(pid_t pid) {
    const std::filesystem::directory_iterator files{"/proc/" + std::to_string(pid) + "/fd"};
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

/// Whether resident memory shows the memory in use. A sanitizer keeps freed memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool memory_tells = false;
#elif defined(__has_feature)
inline constexpr bool memory_tells =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
inline constexpr bool memory_tells = true;
#endif

/// The resident memory of a process, in bytes.
inline std::size_t resident_bytes(pid_t pid) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/statm"};
    std::size_t total = 0;
    std::size_t resident = 0;
    if (!(file >> total >> resident)) throw std::runtime_error{"no such process"};
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace routemaster::test
