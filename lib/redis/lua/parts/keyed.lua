-- Jobs with a key. In the lists and sets of a queue, such a job is represented by a name instead of
-- its content. The content can therefore be replaced without finding the job in a list. A name is
-- the byte 193, with which no MessagePack begins, followed by the id in 16 digits.
-- `routemaster:keyed:{q}` maps each name to MessagePack of [job, key, scope, until]. The scope is 0
-- until done, 1 until started, 2 for a time. `routemaster:keys:{q}` maps a key to the id of its
-- job.

local function is_keyed(name) return string.byte(name) == 193 end
local function keyed_name(id) return '\193' .. string.format('%016.0f', id) end

-- Returns [job, key, scope, until] of a job with a key; nil when absent or unreadable.
local function keyed_of(q, name)
    local packed = redis.call('HGET', P .. 'routemaster:keyed:' .. q, name)
    local read, keyed = pcall(cmsgpack.unpack, packed or '')
    if read and type(keyed) == 'table' and #keyed == 4 then return keyed end
end

-- Returns the approximate size of a job; 0 if it does not exist.
local function size_of(q, name)
    return is_keyed(name) and redis.call('HSTRLEN', P .. 'routemaster:keyed:' .. q, name) or #name
end

local function has_key(q, name, key)
    local owner = redis.call('HGET', P .. 'routemaster:keys:' .. q, key)
    return owner and tonumber(owner) == tonumber(string.sub(name, 2))
end

-- Removes the key of a job that has ended or begun, unless another job has the key now.
local function release_key(q, name, keyed)
    if has_key(q, name, keyed[2]) then
        redis.call('HDEL', P .. 'routemaster:keys:' .. q, keyed[2])
    end
end
