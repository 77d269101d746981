-- Grows the window of a group by one after a success, and shrinks it by two after a failure, within
-- `most`. Below its initial size it grows after failures, too. When it shrinks, READY jobs beyond
-- it are blocked as workers meet them.
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
