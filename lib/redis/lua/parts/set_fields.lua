-- Sets fields of a hash, of which there may be many. Redis keeps a hash of some 500 short fields as
-- a list, which it searches from the beginning for each of them. One with a long value is a table,
-- and stays one until it is empty.
local function set_fields(key, fields)
    local many, last = #fields > 64, #fields
    if many then fields[last + 1], fields[last + 2] = '\193', string.rep(' ', 512) end
    redis.call('HSET', key, unpack(fields))
    if many then redis.call('HDEL', key, '\193') end
end
