-- Pushes a job with a key; see push_job.lua for the arguments and the reply. `timeout` has the same
-- form as in a record. `others` are the ids of the jobs to wait for.
local function push_keyed(timeout, others)
    local q, run_at, key, mode = ARGV[4], tonumber(ARGV[6]), ARGV[10], ARGV[13]
    expect_queue(q)
    expect('ZCARD', 'routemaster:kept_keys')
    local options = {tonumber(ARGV[7]), timeout, tonumber(ARGV[9])}
    local packed = cmsgpack.pack({ARGV[5], key, tonumber(ARGV[11]), tonumber(ARGV[12])})
    local keys, all = P .. 'routemaster:keys:' .. q, P .. 'routemaster:keyed:' .. q

    local id = tonumber(redis.call('HGET', keys, key))
    local name = id and keyed_name(id)
    local owner = name and keyed_of(q, name)
    if owner and (owner[3] ~= 2 or owner[4] > now) then
        local record = record_of(q, name)
        if mode == '0' or record[2] ~= '' or record[6] >= 0 then return {0, id} end
        local joins, leaves = batch_in({[4] = timeout}), batch_in(record)
        if joins == leaves then joins, leaves = nil, nil end
        local why = joins and may_join(joins)
        if why then return redis.error_reply('INVALID ' .. why) end
        if leaves then leave_batch(record, 'cancelled') end
        if joins then count_in(joins, 'total', 1) end
        local scheduled = P .. 'jobs:scheduled:' .. q
        local at = tonumber(redis.call('ZSCORE', scheduled, name))
        local after = after_of(record)
        local due = is_waiting(record) and after[2] or at
        if mode == '2' and due then run_at = math.max(run_at, due) end
        redis.call('HSET', all, name, packed)
        begin_anew(record)
        local before = {[4] = record[4]}
        record[3], record[5] = options[1], options[3]
        record[4] = with_more(options[2], more_of(record))
        if is_waiting(record) then
            after[2] = run_at
            set_after(record, after)
            run_at = never
        end
        save(q, name, record)
        local group, concurrency = group_in(record)
        local group_before, concurrency_before = group_in(before)
        if at or run_at > now or priority_in(record) ~= priority_in(before) or
            group ~= group_before or concurrency ~= concurrency_before then
            local had_rank = unrank(q, id, before)
            local _, leave_group, _, is_held, _, stop_throttling = job_groups()
            if at then
                redis.call('ZREM', scheduled, name)
            elseif not had_rank and not (group_before and
                (is_held(q, id) or stop_throttling(q, id, before))) then
                note_deleted(q, name)
            end
            leave_group(q, id, before)
            place_by(q, name, run_at, record)
        end
        settle_batches()
        return {2, id}
    end

    local kept, label = P .. 'routemaster:kept_keys', q .. ':' .. key
    local ends = tonumber(redis.call('ZSCORE', kept, label))
    if ends and ends > now then return {0, 0} end
    local why
    if others then
        others, why = present(q, others)
        if why then return redis.error_reply('INVALID ' .. why) end
    end
    local batch = batch_in({[4] = timeout})
    why = batch and may_join(batch)
    if why then return redis.error_reply('INVALID ' .. why) end
    id = redis.call('INCR', P .. 'routemaster:job_id')
    if ends then redis.call('ZREM', kept, label) end
    name = keyed_name(id)
    redis.call('HSET', all, name, packed)
    redis.call('HSET', keys, key, id)
    local record = {0, '', options[1], options[2], options[3], -1}
    redis.call('ZADD', P .. 'routemaster:ids:' .. q, id, name)
    if others then run_at = begin_waiting(q, id, record, others, run_at) end
    place_by(q, name, run_at, record)
    save(q, name, record)
    if redis.call('SADD', KEYS[1], name) == redis.call('SCARD', KEYS[1]) then queue_names()(q) end
    if batch then count_in(batch, 'total', 1) end
    return {1, id}
end
