-- Ends the lease of a job, which is then due at ARGV[9]. ARGV[4] to ARGV[8] are the lease. `counts`
-- says whether the attempt counts. Returns 1; 0 if the lease is lost; 2 if the job is now BURIED,
-- because no attempts are left. cancellations() defines the functions for jobs that were cancelled
-- or become BURIED.
local function put_back(counts)
    local q, job = held_in(ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8])
    if not q then return 0 end
    expect_queue(ARGV[4])
    if has_ids(q) then expect('HLEN', 'counters') end
    if not end_lease(q, job, ARGV[6], ARGV[7]) then return 0 end
    redis.call('SADD', KEYS[1], job)
    local is_cancelled, record = end_attempt(q, job, counts)
    if is_cancelled then
        local drop_cancelled, settle_batches = cancellations()
        drop_cancelled(q, job)
        settle_batches()
    elseif record then
        if counts then note_throughput(q, 'f') end
        if counts and used_up(record) then
            local _, settle_batches, bury_unreported = cancellations()
            bury_unreported(q, job, record)
            settle_batches()
            return 2
        end
        place_by(q, job, tonumber(ARGV[9]), record)
    else
        place(q, job, tonumber(ARGV[9]))
    end
    return 1
end
