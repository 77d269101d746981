-- Generates the ids of the batches begun by one publication. The ids have the common prefix
-- ARGV[14] and differ in the last three characters.
local alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
local sibling = -1

local function digit(shift)
    local at = math.floor(sibling / shift) % 64 + 1
    return string.sub(alphabet, at, at)
end

local function fresh_uid()
    local uid
    repeat
        sibling = sibling + 1
        uid = ARGV[14] .. digit(4096) .. digit(64) .. digit(1)
    until redis.call('EXISTS', P .. 'batches:' .. uid,
        P .. 'routemaster:dead_batch:' .. uid) == 0 and
        redis.call('SISMEMBER', P .. 'jobs:index:main', delivery_prefix .. uid) == 0
    return uid
end
