-- Selects jobs for an acquisition, in queues whose jobs have ids. Needs set_fields.lua.

-- Assigns an id to a job that was pushed by an older version of routemaster, without an id.
local function adopt(q, job)
    local id = redis.pcall('INCR', P .. 'routemaster:job_id')
    if type(id) ~= 'number' then return 0 end
    redis.call('ZADD', P .. 'routemaster:ids:' .. q, id, job)
    return id
end

-- Returns the ids of jobs; nil for a job without an id. Redis converts numbers slowly, so the ids
-- are inferred if possible: jobs pushed in sequence have consecutive ids. If the range from the
-- first to the last id contains exactly these jobs, all their ids are known.
local function ids_of(q, jobs)
    local key, size, numbers = P .. 'routemaster:ids:' .. q, #jobs, {}
    local first = size > 8 and tonumber(redis.call('ZSCORE', key, jobs[1]))
    local last = first and tonumber(redis.call('ZSCORE', key, jobs[size]))
    if last and last - first == size - 1 then
        local found, same = redis.call('ZRANGE', key, first, last, 'BYSCORE'), 0
        while same < size and found[same + 1] == jobs[same + 1] do
            same = same + 1
            numbers[same] = first + same - 1
        end
        if same == size and #found == size then return numbers end
    end
    for i, id in ipairs(redis.call('ZMSCORE', key, unpack(jobs))) do numbers[i] = tonumber(id) end
    return numbers
end

local function has_expired(record) return record[1] == 0 and record[5] <= now end
local function is_unfit(record) return has_expired(record) or used_up(record) end

-- Pops up to `most` READY jobs for a worker. Returns lists of the jobs, of their ids and of their
-- records; several records may be one table. Meanwhile drops expired jobs, buries jobs whose
-- attempts are used up, and skips deleted jobs, about 1,000 in all. Afterwards, the first job of
-- the list is not deleted. A job that may have crashed its workers needs isolation. With
-- `isolates`, no job in need of isolation is taken. Without `isolates`, a single one is taken, and
-- `isolated` is its index in the lists. The rest is delayed. `has_ranks` says whether jobs may have
-- a priority. `rates` (throttled.lua) limits the rate. `slice` (job_slice.lua) limits the size of
-- the jobs taken, and `ends` the size of the jobs dropped or buried.
local function take_own(q, most, has_ranks, rates, slice, ends, isolates)
    -- Returns whether this step may handle the job. A job that must be dropped or buried counts
    -- towards `ends`.
    local function may_end(job, record)
        return not is_unfit(record) or ends.fits(size_with_errors(q, job, record))
    end

    -- The common record of all jobs with default options and no attempts. Most jobs have it.
    local unbegun = record_in(nil)
    local deleted = deleted_in(q)
    local taken, ended, in_hand = {jobs = {}, ids = {}, records = {}}, 0, {}
    local own_jobs, own_ids, own_records, count_taken = taken.jobs, taken.ids, taken.records, 0
    while count_taken < most and ended < 1000 and not slice.full and not ends.full do
        local jobs, has_rank, places = nil, {}, nil
        local wanted = slice.next(math.min(most - count_taken, 1000))
        if has_ranks then
            local popped = pop_deleted(q, deleted)
            deleted, ended = deleted - popped, ended + popped
            local opened, member, rank
            if rates then opened, member, rank = rates.opened() end
            if opened and rank < next_rank(q) then
                if not slice.fits(size_of(q, opened)) then break end
                if not may_end(opened, record_of(q, opened)) then break end
                rates.take_out(member)
                jobs, has_rank = {opened}, {true}
            else
                -- If throttled jobs exist, only one job is popped at a time, because a throttled
                -- job may be the next when this job begins or ends.
                local one = opened or (rates and rates.goes_on())
                jobs, has_rank, places = pop_next(q, one and 1 or wanted, deleted)
            end
        else
            jobs, places = pop_ready(q, wanted)
        end
        if not jobs then break end
        -- All popped entries were ranks of jobs that do not exist any more.
        if #jobs == 0 then ended = ended + 1 end
        local packed = #jobs > 0 and
            redis.call('HMGET', P .. 'routemaster:job:' .. q, unpack(jobs))
        local ids = #jobs > 0 and ids_of(q, jobs)
        for i = 1, #jobs do
            local job = jobs[i]
            local id, size = ids[i], size_of(q, job)
            local record = packed[i] and record_in(packed[i]) or unbegun
            if ends.full or not slice.fits(size) or
                not (record == unbegun or may_end(job, record)) then
                return_next(q, jobs, has_rank, places, i)
                break
            end
            if deleted > 0 and not has_rank[i] and was_deleted(q, job) then
                deleted = deleted - 1
                ended = ended + 1
                job = nil
            elseif rates then
                job, id, record = rates.in_turn(job, id, record)
                if not job then ended = ended + 1 end
            end
            if job and record ~= unbegun and is_unfit(record) then
                ends.add(size_with_errors(q, job, record))
                -- Dropping or burying the job may unblock the next job of its group. The remaining
                -- popped jobs are put back, because the unblocked job may precede them.
                local is_grouped = group_in(record) ~= nil
                if is_grouped then return_next(q, jobs, has_rank, places, i + 1) end
                if has_expired(record) then
                    leave_batch(record, 'expired')
                    note_throughput(q, 'e')
                    forget(q, job, in_hand)
                    count('jobs.expired', q, 1)
                    ended = ended + bury_dependents(q, id or 0, 'has expired')
                else
                    ended = ended + bury_unreported(q, job, record, in_hand)
                end
                ended = ended + 1
                if is_grouped then
                    deleted = deleted_in(q)
                    break
                end
            elseif job and needs_isolation(record) and (isolates or taken.isolated) then
                if not has_rank[i] then unrank(q, id or 0, record) end
                -- Delays the job by up to a second. The delays of different jobs are spread over
                -- 100 instants.
                local later = ((id or 0) % 100 * 37 + math.floor(now / 10) % 100) % 100 + 1
                place_by(q, job, now + 10 * later, record)
                ended = ended + 1
            elseif job then
                id = id or adopt(q, job)
                -- An older version of routemaster, which did not write ranks, may have added the
                -- job to the list. Its rank is then removed.
                if record ~= unbegun and not has_rank[i] then unrank(q, id, record) end
                if rates then
                    rates.take_of_group(record)
                    size = size_of(q, job)
                end
                count_taken = count_taken + 1
                if needs_isolation(record) then taken.isolated = count_taken end
                own_jobs[count_taken], own_ids[count_taken] = job, id
                own_records[count_taken] = record
                slice.add(size)
                in_hand[job] = true
            end
        end
    end
    pop_deleted(q, deleted)
    if ended > 0 and count_taken == 0 then select(2, queue_names())(q) end
    return taken
end

-- Returns the content of a job as pushed.
local function pushed_as(q, job)
    local keyed = is_keyed(job) and keyed_of(q, job)
    return keyed and keyed[1] or job
end

-- Counts an attempt of each job by a worker. Returns the contents of the jobs as pushed.
local function begin_attempts(q, taken, worker)
    local fields, texts, packed = {}, {}, {}
    local jobs, records = taken.jobs, taken.records
    for i = 1, #jobs do
        local job, record = jobs[i], records[i]
        if not packed[record] then
            record[1], record[2] = record[1] + 1, worker
            if record[6] ~= -2 then record[6] = -now end
            packed[record] = cmsgpack.pack(record)
        end
        local keyed = is_keyed(job) and keyed_of(q, job)
        texts[i] = keyed and keyed[1] or job
        if keyed and keyed[3] == 1 then release_key(q, job, keyed) end
        fields[2 * i - 1], fields[2 * i] = job, packed[record]
    end
    if #jobs > 0 then set_fields(P .. 'routemaster:job:' .. q, fields) end
    return texts
end
