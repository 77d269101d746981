#include "options.hpp"

#include <exception>
#include <iostream>
#include <utility>

#include <CLI/CLI.hpp>

namespace bench {
namespace {

CLI::Option& of(void* option) { return *static_cast<CLI::Option*>(option); }

template <class Value>
Option add_to(CLI::App& app, const std::string& name, Value& value, const std::string& meaning) {
    return Option{app.add_option(name, value, meaning)->capture_default_str()};
}

}  // namespace

Option Option::required() {
    of(option_).required();
    return *this;
}

Option Option::positive() {
    of(option_).check(CLI::PositiveNumber);
    return *this;
}

Option Option::one_of(const std::vector<std::string>& values) {
    of(option_).check(CLI::IsMember(values));
    return *this;
}

struct Options::Impl {
    Impl(std::string purpose, std::string name) : app{std::move(purpose), std::move(name)} {}

    CLI::App app;
};

Options::Options(std::string purpose, std::string name)
    : impl_{std::make_unique<Impl>(std::move(purpose), std::move(name))} {}

Options::~Options() = default;

Option Options::add(const std::string& name, std::string& value, const std::string& meaning) {
    return add_to(impl_->app, name, value, meaning);
}
Option Options::add(const std::string& name, std::uint16_t& value, const std::string& meaning) {
    return add_to(impl_->app, name, value, meaning);
}
Option Options::add(const std::string& name, std::uint32_t& value, const std::string& meaning) {
    return add_to(impl_->app, name, value, meaning);
}
Option Options::add(const std::string& name, std::uint64_t& value, const std::string& meaning) {
    return add_to(impl_->app, name, value, meaning);
}
Option Options::add(const std::string& name, double& value, const std::string& meaning) {
    return add_to(impl_->app, name, value, meaning);
}

void Options::add_flag(const std::string& name, bool& value, const std::string& meaning) {
    impl_->app.add_flag(name, value, meaning);
}

void Options::add_command(const std::string& name, std::function<void()> run) {
    impl_->app.add_subcommand(name)->callback(std::move(run));
    impl_->app.require_subcommand(1);
}

int Options::run(int argc, char** argv, const std::function<void()>& run) {
    auto& app = impl_->app;
    try {
        app.parse(argc, argv);
        run();
        return 0;
    } catch (const CLI::Error& error) {
        return app.exit(error);
    } catch (const std::exception& error) {
        std::cerr << app.get_name() << ": " << error.what() << std::endl;
        return 1;
    }
}

}  // namespace bench
