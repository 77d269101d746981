-- Sets many fields of a hash. Redis keeps a hash of up to about 500 short fields as a list, and
-- searches the list from the beginning for each field. A hash with a long value is a table, and
-- stays a table until it is empty. Therefore a long value is added for a moment.
local function set_fields(key, fields)
    local many, last = #fields > 64, #fields
    if many then fields[last + 1], fields[last + 2] = '\193', string.rep(' ', 512) end
    redis.call('HSET', key, unpack(fields))
    if many then redis.call('HDEL', key, '\193') end
end
