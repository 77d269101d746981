/// @file
/// The options of a program. CLI11 parses them, behind this: its header alone takes as long to
/// compile as all else of such a program.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// The options contradict each other, or make no sense.
class BadOption : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

/// One option. Valid as long as its `Options`.
class Option {
public:
    explicit Option(void* option) : option_{option} {}

    /// It must be given.
    Option required();
    /// It must be greater than 0.
    Option positive();
    /// It must be one of these.
    Option one_of(const std::vector<std::string>& values);

private:
    void* option_;  // CLI11's.
};

/// What a program is given on its command line.
///
/// Every value must outlive the parsing; what it is before that is its default.
class Options {
public:
    /// `name` stands before the errors of the program.
    Options(std::string purpose, std::string name);
    ~Options();
    Options(const Options&) = delete;
    Options& operator=(const Options&) = delete;

    Option add(const std::string& name, std::string& value, const std::string& meaning = {});
    Option add(const std::string& name, std::uint16_t& value, const std::string& meaning = {});
    Option add(const std::string& name, std::uint32_t& value, const std::string& meaning = {});
    Option add(const std::string& name, std::uint64_t& value, const std::string& meaning = {});
    Option add(const std::string& name, double& value, const std::string& meaning = {});
    /// False unless it is given.
    void add_flag(const std::string& name, bool& value, const std::string& meaning);
    /// A word that may stand for what to do: exactly one of them must be given.
    void add_command(const std::string& name, std::function<void()> run);

    /// The body of `main`: parses, runs, and reports errors; returns the exit status.
    int run(int argc, char** argv, const std::function<void()>& run);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bench
