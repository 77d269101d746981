-- Adapts the window of a group: a success adds one, a failure subtracts two. Below its initial
-- size, the window grows after failures, too. Its maximum is `most` or `max_in_flight`, whichever
-- is less. When the window shrinks, later acquisitions block the READY jobs beyond the window.
-- `max_in_flight` is the limit of the subscriber; `window` is the stored value.
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
