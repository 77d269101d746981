-- Timers. These keys have the format of dtimer 0.3.3 for Node. They begin with the namespace,
-- ARGV[4]:
--   gl  hash: gracePeriod, baseInterval, and expiresAt, the due time of which the current listener
--       was last notified
--   ch  list: the channels of the listeners; the current listener is at the right end
--   ei  zset: PENDING timers, by due time
--   ed  hash: id -> event
--   et  zset: FIRED timers, by the time of their retry
-- Keys of routemaster, which Node never reads:
--   routemaster:dead         zset: DEAD timers, by time of death
--   routemaster:dead_events  hash: id -> event; NUL and id -> the reason of its death, if known
--   routemaster:confirm      hash: id -> time to confirm, for timers with their own time
--   routemaster:listeners and routemaster:turn: see timer_turn.lua
local space = ARGV[4]
local T = P .. space .. ':'
local pending, events, fired = T .. 'ei', T .. 'ed', T .. 'et'
local dead, dead_events = T .. 'routemaster:dead', T .. 'routemaster:dead_events'
local confirm = T .. 'routemaster:confirm'
if (fleet == '0' or fleet == '1') and string.find(space, '{', 1, true) then
    local found = redis.pcall('EXISTS', T .. 'routemaster:never')
    if type(found) == 'table' and string.find(found.err, 'non local key', 1, true) then
        return redis.error_reply('MOVING the slot is being moved')
    end
end

local never = 9007199254740991

-- Converts an instant to whole milliseconds, rounded up. Another program may have written a
-- fraction or an infinite value.
local function instant(score)
    return math.max(math.min(math.ceil(tonumber(score)), never), -never)
end

-- Fails if a key has a wrong type. Returns the number of DEAD timers.
local function expect_timers()
    expect('HLEN', space .. ':gl', space .. ':ed', space .. ':routemaster:turn',
        space .. ':routemaster:listeners', space .. ':routemaster:confirm',
        space .. ':routemaster:dead_events')
    expect('LLEN', space .. ':ch')
    return expect('ZCARD', space .. ':ei', space .. ':et', space .. ':routemaster:dead')
end
