-- Removes the delivery job of a subscriber from the place where the job waits. Returns false when
-- the delivery is under way.
local function take_out_delivery(job, token)
    return redis.call('ZREM', P .. 'jobs:scheduled:main', job) == 1 or
        redis.call('ZREM', P .. 'jobs:scheduled:main:callbacks', job) == 1 or
        redis.call('SREM', P .. 'routemaster:blocked:main', job) == 1 or
        withdraw(job, destination_of(token, batch_of('main', job)))
end
