-- ScrubWorkers: declares silent workers dead and releases their jobs.
-- KEYS  1 workers
-- ARGV  1 prefix, 2 now, 3 fleet, 4 silence
-- Effect: releases at most 1,000 jobs, and at most 4 MiB of jobs or one larger job, so the server
--         is not blocked for long. Jobs without attempts left are BURIED. If no scrub ran for half
--         of the silence or longer, silent workers get one grace period: their heartbeat is assumed
--         to be now, but only once. `routemaster:scrubbed` has the time of the last scrub in the
--         field "", and the assumed heartbeat of each worker. In a mixed deployment, a scrub also
--         unblocks jobs, removes the ordering groups of 500 subscribers, and hides jobs of `aux`
--         that Ruby workers cannot run. Otherwise it returns these hidden jobs to `aux`, and checks
--         up to 100 blocked jobs, because another program may have changed their groups.
-- Reply: the number of jobs released; 1 if there is more to do, else 0; queue and id of each job
--        that is now BURIED.
expect('HLEN', 'counters', 'routemaster:scrubbed')
if mixed then expect('SCARD', 'subscribers') end
local silence = tonumber(ARGV[4])
local queues = all_queues()
local workers = redis.call('HKEYS', KEYS[1])
table.sort(workers)

-- Jobs may also be PENDING for workers that are not in `workers`. When a Ruby worker exits because
-- of an error, it is removed from `workers`, but its jobs stay PENDING.
local known, strays = {}, {}
for _, worker in ipairs(workers) do known[worker] = true end
for _, q in ipairs(queues) do
    for _, worker in ipairs(redis.call('SMEMBERS', P .. 'jobs:pending:index:' .. q)) do
        if not known[worker] then strays[#strays + 1] = worker end
    end
end

-- If the clock was set back, a heartbeat may be in the future. It then counts as now.
local scrubbed = P .. 'routemaster:scrubbed'
local before = tonumber(redis.call('HGET', scrubbed, ''))
local long_ago = before and now > before and now - before >= math.floor(silence / 2)
local silent, undated, assumed, heard = {}, {}, {}, {}
for _, worker in ipairs(workers) do
    local text = redis.call('HGET', KEYS[1], worker)
    local seen = tonumber(text)
    if not seen or seen > now then
        seen = now
        undated[#undated + 1] = worker
    end
    local is_assumed = redis.call('HGET', scrubbed, worker)
    if is_assumed and is_assumed ~= text then
        is_assumed = false
        heard[#heard + 1] = worker
    end
    if long_ago and not is_assumed and seen + silence <= now then
        seen = now
        undated[#undated + 1] = worker
        assumed[#assumed + 1] = worker
    end
    if seen + silence <= now then silent[#silent + 1] = worker end
end
expect_workers(queues, strays)
expect_workers(queues, silent)

local total, buried, slice, gone = 0, {}, new_slice(), true
local function count_scrubbed(q, jobs)
    count('jobs.scrubbed', q == to_callbacks and 'main' or q, jobs)
end
redis.call('HSET', scrubbed, '', now)
for _, worker in ipairs(undated) do redis.call('HSET', KEYS[1], worker, now) end
for _, worker in ipairs(heard) do redis.call('HDEL', scrubbed, worker) end
for _, worker in ipairs(assumed) do
    redis.call('HSET', scrubbed, worker, redis.call('HGET', KEYS[1], worker))
end
local function retire_next(worker)
    local jobs
    jobs, gone = retire(worker, queues, 1000 - total, slice, true, count_scrubbed, buried)
    total = total + jobs
    return gone
end
for _, worker in ipairs(strays) do
    if not retire_next(worker) then break end
end
for _, worker in ipairs(gone and silent or {}) do
    if not retire_next(worker) then break end
    tally('\146\176workers.scrubbed\144', 1)
end

if ARGV.batches then select(2, cancellations())() end
if mixed then
    total = total + release(1000 - total)
    local blocked = redis.call('EXISTS', P .. 'routemaster:blocked:main') == 1
    if not blocked then ungroup() end
    set_aux_aside()
    return {total, (blocked or not gone) and 1 or 0, unpack(buried)}
end
bring_aux_back()
local seen = {}
for _, job in ipairs(redis.call('SRANDMEMBER', P .. 'routemaster:blocked:main', 100)) do
    local uid = batch_of('main', job)
    local token = uid and subscriber_of(uid)
    if not token then
        let_in(job, false)
    elseif not seen[token] then
        seen[token] = true
        -- may_run() may already have unblocked the job.
        if may_run(token, uid) then let_in(job, token) end
    end
end
return {total, gone and 0 or 1, unpack(buried)}
