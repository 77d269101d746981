-- Adds to a number in a hash and returns the sum. A value that would overflow, or is no number,
-- restarts from zero, as in Ruby Routemaster.
local function add(key, field, increment)
    local value = redis.pcall('HINCRBY', key, field, increment)
    if type(value) ~= 'table' then return value end
    redis.call('HSET', key, field, math.max(increment, 0))
end

-- Adds to a counter. If the sum equals the increment, the counter may be new, so its name is added
-- to the index.
local counters = P .. 'counters'
local function tally(field, increment)
    if add(counters, field, increment) == increment then note_name('counters', field) end
end

-- Encoding of counter names, as in Ruby Routemaster: the field is MessagePack of [name, [[tag,
-- value]...]].

local function str(text)
    local size = #text
    if size < 32 then return string.char(160 + size) .. text end
    return '\217' .. string.char(size) .. text
end

local function count(name, queue, increment)
    tally('\146' .. str(name) .. '\145\146\165queue' .. str(queue), increment)
end
