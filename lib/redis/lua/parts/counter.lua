-- Counters, in the original's encoding: field = MessagePack [name, [[tag, value]...]].

local function str(text)
    local size = #text
    if size < 32 then return string.char(160 + size) .. text end
    return '\217' .. string.char(size) .. text
end

-- Adds to the counter of that name with the tag `queue`.
local function count(name, queue, increment)
    redis.call('HINCRBY', P .. 'counters',
        '\146' .. str(name) .. '\145\146\165queue' .. str(queue), increment)
end

-- The same with the tag `status` beside it.
local function count_status(name, queue, status, increment)
    redis.call('HINCRBY', P .. 'counters',
        '\146' .. str(name) .. '\146\146\165queue' .. str(queue) .. '\146\166status' .. str(status),
        increment)
end
