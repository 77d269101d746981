-- Jobs that have a key. In the lists and sets of its queue such a job is its name: the byte 193,
-- with which no MessagePack begins, and its id in 16 digits; so what it is to do can be replaced
-- wherever it stands. `routemaster:keyed:{q}` has MessagePack of [job, key, scope, until] of each
-- name, the scope as 0 until done, 1 until started, 2 for a time; `routemaster:keys:{q}` the id of
-- the job that has a key.

local function is_keyed(name) return string.byte(name) == 193 end
local function keyed_name(id) return '\193' .. string.format('%016.0f', id) end

-- [job, key, scope, until] of a job with a key; nil when there is none that can be read.
local function keyed_of(q, name)
    local packed = redis.call('HGET', P .. 'routemaster:keyed:' .. q, name)
    local read, keyed = pcall(cmsgpack.unpack, packed or '')
    if read and type(keyed) == 'table' and #keyed == 4 then return keyed end
end

-- About how large a job is. One that is gone has no size.
local function size_of(q, name)
    return is_keyed(name) and redis.call('HSTRLEN', P .. 'routemaster:keyed:' .. q, name) or #name
end

-- Whether a job has its key still.
local function has_key(q, name, key)
    local owner = redis.call('HGET', P .. 'routemaster:keys:' .. q, key)
    return owner and tonumber(owner) == tonumber(string.sub(name, 2))
end

-- Takes the key from a job that is to end, or that has begun, if it has it.
local function release_key(q, name, keyed)
    if has_key(q, name, keyed[2]) then
        redis.call('HDEL', P .. 'routemaster:keys:' .. q, keyed[2])
    end
end
