-- KickJobs: makes BURIED jobs READY, or one SCHEDULED job.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 id, or "" for the jobs that were buried first, 6 limit
-- Effect: the attempts of BURIED jobs restart at 0, and the jobs no longer expire. Kicks at most 4
--         MiB of jobs and their errors, or one larger job.
-- Reply: the number of jobs kicked.
local q = ARGV[4]
expect_queue(q)
local ids = {}
if ARGV[5] ~= '' then
    ids[1] = tonumber(ARGV[5])
    local job, scheduled = job_of(q, ids[1]), P .. 'jobs:scheduled:' .. q
    local at = job and tonumber(redis.call('ZSCORE', scheduled, job) or 0)
    local record = job and record_of(q, job)
    if job and at > now and not is_waiting(record) then
        redis.call('ZREM', scheduled, job)
        place_by(q, job, now, record)
        return 1
    end
else
    for i, burial in ipairs(redis.call('ZRANGE', P .. 'routemaster:burials:' .. q, 0,
        tonumber(ARGV[6]) - 1)) do
        ids[i] = tonumber(burial)
    end
end
local kicked, slice = 0, new_slice()
for _, id in ipairs(ids) do
    local job = job_of(q, id)
    local record = job and record_of(q, job)
    if job and record[6] >= 0 then
        local size = size_with_errors(q, job, record)
        if not slice.fits(size) then break end
        slice.add(size)
        exhume(q, job, id)
        local batch = batch_in(record)
        if batch then count_in(batch, 'buried', -1) end
        begin_anew(record)
        record[5], record[6] = never, -1
        save(q, job, record)
        place_by(q, job, now, record)
        kicked = kicked + 1
    end
end
return kicked
