-- Adds to a number in a hash. One that cannot be added to, for want of
-- room or of a number, begins anew, as in the original.
local function add(key, field, increment)
    if type(redis.pcall('HINCRBY', key, field, increment)) == 'table' then
        redis.call('HSET', key, field, math.max(increment, 0))
    end
end

-- Adds to a counter.
local function tally(field, increment)
    add(P .. 'counters', field, increment)
end

-- Counters, in the original's encoding: field = MessagePack [name, [[tag, value]...]].

local function str(text)
    local size = #text
    if size < 32 then return string.char(160 + size) .. text end
    return '\217' .. string.char(size) .. text
end

-- Adds to the counter of that name with the tag `queue`.
local function count(name, queue, increment)
    tally('\146' .. str(name) .. '\145\146\165queue' .. str(queue), increment)
end
