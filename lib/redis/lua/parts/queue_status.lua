-- Counts the jobs of a queue by state: scheduled, ready, pending, buried. The fifth number is 1 if
-- the queue is paused. SCHEDULED jobs that are due count as ready.
local function queue_status(q)
    local due = redis.call('ZCOUNT', P .. 'jobs:scheduled:' .. q, '-inf', now)
    local scheduled = redis.call('ZCARD', P .. 'jobs:scheduled:' .. q)
    local ready = redis.call('LLEN', P .. 'jobs:instant:' .. q) +
        redis.call('SCARD', P .. 'routemaster:blocked:' .. q)
    local buried, paused = 0, 0
    if q == 'main' or q == 'aux' then
        -- SCHEDULED jobs that are hidden from Ruby workers.
        local called = P ..
            (q == 'main' and 'jobs:scheduled:main:callbacks' or 'routemaster:aux')
        due = due + redis.call('ZCOUNT', called, '-inf', now)
        scheduled = scheduled + redis.call('ZCARD', called)
        if q == 'main' then ready = ready + redis.call('SCARD', P .. 'routemaster:callbacks') end
    else
        ready = math.max(ready - deleted_in(q), 0)
        for _, waiting in ipairs({'ranks:', 'held:'}) do
            ready = ready + redis.call('ZCOUNT', P .. 'routemaster:' .. waiting .. q, '-inf',
                9007199254740991)
        end
        ready = ready + redis.call('ZCARD', P .. 'routemaster:throttled:' .. q)
        buried = redis.call('ZCARD', P .. 'routemaster:buried:' .. q)
        paused = redis.call('SISMEMBER', P .. 'routemaster:paused', q)
    end
    local all = redis.call('SCARD', P .. 'jobs:index:' .. q)
    local pending = math.max(all - scheduled - ready - buried, 0)
    return {scheduled - due, ready + due, pending, buried, paused}
end
