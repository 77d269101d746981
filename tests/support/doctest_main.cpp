/// @file
/// The entry point of every doctest executable.
///
/// Two kinds of silent success count as failures: a filter that selects no case (a test that was
/// renamed, or registered under another name), and a case that asserts nothing.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

namespace {

std::vector<std::string>& complaints() {
    static std::vector<std::string> list;
    return list;
}

class Watch final : public doctest::IReporter {
public:
    explicit Watch(const doctest::ContextOptions&) {}

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats& stats) override {
        if (stats.numTestCasesPassingFilters == 0) {
            complaints().emplace_back("no test case matches the filter");
        }
    }
    void test_case_start(const doctest::TestCaseData& test) override { name_ = test.m_name; }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        if (stats.numAssertsCurrentTest == 0) {
            complaints().push_back("asserts nothing: " + name_);
        }
    }
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}

private:
    std::string name_;
};

REGISTER_LISTENER("watch", 1, Watch);

const pid_t test_process = ::getpid();

}  // namespace

/// Asked by the leak sanitizer at the end of a process. Its check in a forked child would wait for
/// locks that threads of the parent held at the fork.
extern "C" int __lsan_is_turned_off() { return ::getpid() != test_process ? 1 : 0; }

int main(int argc, char** argv) {
    // Tests cut connections on purpose; writing to one of them must fail, not kill.
    std::signal(SIGPIPE, SIG_IGN);
    doctest::Context context(argc, argv);
    int code = context.run();
    for (const auto& complaint : complaints()) {
        std::cerr << complaint << '\n';
        code = 1;
    }
    return code;
}
