-- Notes how long a timer may take to be confirmed. Where Node ended a timer, what was noted of it
-- stays: each note looks at two others, at random, so that no more than about half are of that.
local function note_confirm(id, within)
    redis.call('HSET', confirm, id, within)
    for _, other in ipairs(redis.call('HRANDFIELD', confirm, 2)) do
        if redis.call('HEXISTS', events, other) == 0 and
            redis.call('HEXISTS', dead_events, other) == 0 then
            redis.call('HDEL', confirm, other)
        end
    end
end
