/// @file
/// The options of a program. CLI11 parses them in a separate file: its header alone takes as long
/// to compile as the rest of a program.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// The options contradict each other, or are invalid.
class BadOption : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

/// An option. Valid as long as its `Options`.
class Option {
public:
    explicit Option(void* option) : option_{option} {}

    /// The option must be given.
    Option required();
    /// The value must be greater than 0.
    Option positive();
    /// The value must be one of `values`.
    Option one_of(const std::vector<std::string>& values);

private:
    void* option_;  // Of CLI11.
};

/// The options on the command line of a program.
///
/// All values must outlive the parsing. Their initial values are the defaults.
class Options {
public:
    /// `name` is printed before errors.
    Options(std::string purpose, std::string name);
    ~Options();
    Options(const Options&) = delete;
    Options& operator=(const Options&) = delete;

    Option add(const std::string& name, std::string& value, const std::string& meaning = {});
    Option add(const std::string& name, std::uint16_t& value, const std::string& meaning = {});
    Option add(const std::string& name, std::uint32_t& value, const std::string& meaning = {});
    Option add(const std::string& name, std::uint64_t& value, const std::string& meaning = {});
    Option add(const std::string& name, double& value, const std::string& meaning = {});
    /// Sets `value` to whether the flag is given.
    void add_flag(const std::string& name, bool& value, const std::string& meaning);
    /// Adds a command word. Exactly one of the command words must be given.
    void add_command(const std::string& name, std::function<void()> run);

    /// The body of `main`: parses, runs, and reports errors. Returns the exit status.
    int run(int argc, char** argv, const std::function<void()>& run);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bench
