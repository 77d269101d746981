-- Sets many fields of a hash. Redis stores a hash of up to about 500 short fields as a list, and
-- searches the list from the beginning for each field. Once a hash has a long value, it is stored
-- as a hash table until it is empty. A long value is therefore added first, and then removed.
local function set_fields(key, fields)
    local many, last = #fields > 64, #fields
    if many then fields[last + 1], fields[last + 2] = '\193', string.rep(' ', 512) end
    redis.call('HSET', key, unpack(fields))
    if many then redis.call('HDEL', key, '\193') end
end
