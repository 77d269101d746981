-- ListJobs: lists the jobs of a queue in a state, by id. Optionally only the jobs of a name or a
-- group.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 state, as in job_status(), 6 after, 7 limit, 8 the
--       first bytes of the jobs, or "", 9 group or ""
-- Effect: reads at most 1,000 jobs, and at most 4 MiB of jobs and their errors, or one larger job.
-- Reply: `after` of the next page, or 0 when nothing follows, then job_status() of each job.
local q, wanted, limit = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[7])
local index = P .. 'routemaster:' .. (wanted == 3 and 'buried:' or 'ids:') .. q

local function matches(job, record)
    if ARGV[9] ~= '' and group_in(record) ~= ARGV[9] then return false end
    if ARGV[8] == '' then return true end
    local keyed = is_keyed(job) and keyed_of(q, job)
    return string.sub(keyed and keyed[1] or job, 1, #ARGV[8]) == ARGV[8]
end

local reply, last, looked, slice = {0}, tonumber(ARGV[6]), 0, new_slice()
local after = ARGV[6]
repeat
    local found = redis.call('ZRANGE', index, '(' .. after, '+inf', 'BYSCORE', 'LIMIT', 0, 16,
        'WITHSCORES')
    for i = 1, #found, 2 do
        local job, id = found[i], tonumber(found[i + 1])
        local record = record_of(q, job)
        local state, run_at = state_of(q, job, record)
        local size = state == wanted and size_with_errors(q, job, record) or #job
        if #reply > limit or looked == 1000 or not slice.fits(size) then
            reply[1] = last
            return reply
        end
        slice.add(size)
        looked, last = looked + 1, id
        if state == wanted and matches(job, record) then
            reply[#reply + 1] = job_status(q, job, id, record, state, run_at)
        end
    end
    after = found[#found]
until #found < 2 * 16
return reply
