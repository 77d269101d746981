/// @file
/// The entry point of all doctest executables.
///
/// Two kinds of silent success count as failures: a filter without a matching case (a test that was
/// renamed, or registered under a different name), and a case without an assertion.

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

/// The leak sanitizer calls this at the end of a process. In a forked child its check must not run:
/// it would wait for locks that threads of the parent owned at the fork.
extern "C" int __lsan_is_turned_off() { return ::getpid() != test_process ? 1 : 0; }

int main(int argc, char** argv) {
    // Tests cut connections on purpose. A write to a closed connection must fail, not kill the
    // process.
    std::signal(SIGPIPE, SIG_IGN);
    doctest::Context context(argc, argv);
    int code = context.run();
    for (const auto& complaint : complaints()) {
        std::cerr << complaint << '\n';
        code = 1;
    }
    return code;
}
