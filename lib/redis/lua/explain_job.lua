-- ExplainJob: explains why a job does not run, or which worker has its lease.
-- KEYS  1 jobs:index:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue, 5 id
-- Reply: nil when the job does not exist; else job_status(), queue_status(), five numbers (-1 when
--        absent): the last heartbeat of its worker, the time of its lease, the concurrency of the
--        group that blocks the job, the next token of its queue, the next token of its
--        group; then queue_workers(), now, and a list of ids: the first jobs of the group, at most
--        10, or the BURIED jobs among the awaited jobs.
local q, id = ARGV[4], tonumber(ARGV[5])
local job = job_of(q, id)
if not job then return false end
local record = record_of(q, job)
local state, run_at = state_of(q, job, record)
local all = {job_status(q, job, id, record, state, run_at), queue_status(q), -1, -1, -1, -1, -1,
    queue_workers(q), now}
if state == 2 then
    all[3] = tonumber(redis.call('HGET', P .. 'workers', record[2])) or now
    if record[6] < -2 then all[4] = -record[6] end
elseif state == 0 then
    local after = after_of(record)
    for i = 3, #after do
        local other = job_of(q, after[i])
        if other and state_of(q, other, record_of(q, other)) == 3 then
            all[#all + 1] = after[i]
        end
    end
elseif state == 1 and group_in(record) then
    local _, _, _, is_held, first_of = job_groups()
    local at = tonumber(is_held(q, id) or '')
    if at and at < math.huge then
        local ids, concurrency = first_of(q, group_in(record), 10)
        all[5] = concurrency
        for _, first in ipairs(ids) do all[#all + 1] = first end
    end
end
if state == 1 and #all == 9 and
    redis.call('SISMEMBER', P .. 'routemaster:paused', ':' .. q) == 1 then
    local limits, group = limits_of(q), group_in(record)
    local function say(i, limit, of)
        local at = limit and next_in(open_bucket(q, of, limit, limits.revision), 0)
        if at and at > now then all[i] = at end
    end
    say(6, limits.queue, nil)
    if group then say(7, limits.each_group, group) end
end
return all
