-- FailJob: ends an attempt that failed.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 job, 6 worker, 7 fence, 8 id or 0, 9 run_at, 10 "1" to
--       bury the job, 11 error, 12 the time limit for its failures in ms, or 0
-- Effect: stores the error. The job is due again at run_at, or becomes BURIED.
-- Reply: 1, or 0 when the lease is lost, or 2 when the job is now BURIED.
local q, job = held_in(ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8])
if not q then return 0 end
expect_queue(q)
expect('HLEN', 'counters')
if not end_lease(q, job, ARGV[6], ARGV[7]) then return 0 end
local record = record_of(q, job)
if record[6] == -2 then
    drop_cancelled(q, job)
    settle_batches()
    return 1
end
note_throughput(q, 'f')
record[2], record[6] = '', -1
add_error(record, ARGV[11])
local time_max, too_long = tonumber(ARGV[12]), false
if time_max > 0 then
    if not is_failing(record) then
        for _, part in ipairs({'', now, 0}) do table.insert(record, 7, part) end
    end
    too_long = record[8] + time_max <= now
end
if ARGV[10] == '1' or too_long or used_up(record) then
    bury(q, job, record)
    settle_batches()
    return 2
end
save(q, job, record)
place_by(q, job, tonumber(ARGV[9]), record)
return 1
