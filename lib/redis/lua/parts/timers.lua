-- Timers, in the keys of dtimer 0.3.3 for Node, which begin with the namespace, ARGV[4]:
--   gl  hash: gracePeriod, baseInterval, and expiresAt, when the listener whose turn it is was last
--       told that a timer is due
--   ch  list of listeners, by their channels; that at the right end has its turn
--   ei  zset of PENDING timers, by when they are due; ed  hash of events; et  zset of FIRED timers,
--       by when they come back
-- and in those of ours, which Node never reads: routemaster:dead, a zset of DEAD timers by when
-- they died, and in routemaster:dead_events their events and, by NUL and the id, why one was given
-- up, if somebody said so; routemaster:confirm, how long those may take to be confirmed that say it
-- themselves; and routemaster:listeners and routemaster:turn, see timer_turn.lua.
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

-- An instant of another program, which may have a fraction or be infinite, in whole milliseconds:
-- the first at which it has come.
local function instant(score)
    return math.max(math.min(math.ceil(tonumber(score)), never), -never)
end

-- Fails when a key has another type than it should have. Returns how many DEAD timers there are.
local function expect_timers()
    expect('HLEN', space .. ':gl', space .. ':ed', space .. ':routemaster:turn',
        space .. ':routemaster:listeners', space .. ':routemaster:confirm',
        space .. ':routemaster:dead_events')
    expect('LLEN', space .. ':ch')
    return expect('ZCARD', space .. ':ei', space .. ':et', space .. ':routemaster:dead')
end
