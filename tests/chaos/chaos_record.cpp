#include "chaos/chaos_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace routemaster::test {

// The format of the file, one line per entry:
//
//   b FENCE NUMBER PARENT_FENCE ID ATTEMPT MS    a handler begins
//   e FENCE d|f MS                               it ends: done, or failed
//   p MS LEASE_LOST                              a sign of life

ChaosLog::ChaosLog(const std::filesystem::path& file)
    : file_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
    if (file_ < 0) throw std::system_error{errno, std::generic_category(), file.string()};
}

ChaosLog::~ChaosLog() { ::close(file_); }

void ChaosLog::begin(const ChaosRun& run) const {
    std::ostringstream line;
    line << "b " << run.fence << ' ' << run.job.number << ' ' << run.job.parent_fence << ' '
         << run.id << ' ' << run.attempt << ' ' << run.begun.count() << '\n';
    write(line.str());
}

void ChaosLog::end(const ChaosRun& run) const {
    std::ostringstream line;
    line << "e " << run.fence << ' ' << static_cast<char>(run.end) << ' ' << run.ended.count()
         << '\n';
    write(line.str());
}

void ChaosLog::pulse(const ChaosPulse& pulse) const {
    std::ostringstream line;
    line << "p " << pulse.at.count() << ' ' << pulse.lease_lost << '\n';
    write(line.str());
}

void ChaosLog::write(const std::string& line) const {
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::system_error{errno, std::generic_category(), "the record"};
    }
}

void read_chaos_log(const std::filesystem::path& file, ChaosTime born, ChaosTime died,
                    ChaosRecord& record) {
    const auto worker = record.workers.size();
    auto& process = record.workers.emplace_back(ChaosWorker{born, died, {}});
    std::map<std::uint64_t, std::size_t> open;  // The runs without an end so far, by fence.
    std::ifstream lines{file};
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
        std::istringstream fields{line};
        char kind = 0;
        std::int64_t ms = 0;
        fields >> kind;
        if (kind == 'b') {
            ChaosRun run{.ended = died, .worker = worker};
            fields >> run.fence >> run.job.number >> run.job.parent_fence >> run.id >>
                run.attempt >> ms;
            run.begun = ChaosTime{ms};
            if (!open.emplace(run.fence, record.runs.size()).second)
                fields.setstate(fields.failbit);
            record.runs.push_back(run);
        } else if (kind == 'e') {
            std::uint64_t fence = 0;
            char end = 0;
            fields >> fence >> end >> ms;
            const auto run = open.extract(fence);
            if (run.empty()) throw std::runtime_error{"an end without its beginning: " + line};
            auto& ended = record.runs[run.mapped()];
            ended.end = ChaosRun::End{end};
            ended.ended = ChaosTime{ms};
        } else {
            ChaosPulse pulse;
            fields >> ms >> pulse.lease_lost;
            pulse.at = ChaosTime{ms};
            process.pulses.push_back(pulse);
        }
        if (!fields) throw std::runtime_error{"not as it should be: " + line};
    }
}

}  // namespace routemaster::test
