-- Lets a lane have one more after a success, and two less after a failure, but no more than `most`.
-- What it may begin with it regains after failures, too. Those of a lane that becomes narrower are
-- held once they are met among the READY.
local function adapt(token, success, most)
    local before, width, stored = width_of(token)
    if width <= 1 then return end
    local first = math.min(width, lane_start)
    local after = (success or before < first) and before + 1 or math.max(before - 2, first)
    after = math.min(after, most, width)
    if after == first then
        if stored then redis.call('HDEL', P .. 'subscriber:' .. token, 'window') end
    elseif after ~= before then
        redis.call('HSET', P .. 'subscriber:' .. token, 'window', after)
    end
    if after > before then admit(token, before, after - 1) end
end
