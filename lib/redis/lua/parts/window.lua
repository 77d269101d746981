-- Lets a group have one more after a success, and two less after a failure, but no more than
-- `most`. What it may begin with it regains after failures, too. Those of a group that becomes
-- narrower are blocked once they are met among the READY.
local function adapt(token, success, most)
    local before, concurrency, stored = concurrency_of(token)
    if concurrency <= 1 then return end
    local first = math.min(concurrency, group_start)
    local after = (success or before < first) and before + 1 or math.max(before - 2, first)
    after = math.min(after, most, concurrency)
    if after == first then
        if stored then redis.call('HDEL', P .. 'subscriber:' .. token, 'window') end
    elseif after ~= before then
        redis.call('HSET', P .. 'subscriber:' .. token, 'window', after)
    end
    if after > before then make_eligible(token, before, after - 1) end
end
