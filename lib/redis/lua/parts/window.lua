-- Grows the window of a group by one after a success, and shrinks it by two after a failure, within
-- `most`. Below its initial size it grows after failures, too. When it shrinks, READY jobs beyond
-- it are blocked as workers meet them.
-- The subscriber asked for `max_in_flight`; `window` is as it is stored.
local function adapt(token, success, most, max_in_flight, window)
    local before, concurrency = concurrency_in(max_in_flight, window)
    if concurrency <= 1 then return end
    local first = math.min(concurrency, group_start)
    local after = (success or before < first) and before + 1 or math.max(before - 2, first)
    after = math.min(after, most, concurrency)
    if after == first then
        if window then redis.call('HDEL', P .. 'subscriber:' .. token, 'window') end
    elseif after ~= before then
        redis.call('HSET', P .. 'subscriber:' .. token, 'window', after)
    end
    if after > before then make_eligible(token, before, after - 1) end
end
