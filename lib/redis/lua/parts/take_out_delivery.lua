-- Removes the waiting delivery job of a subscriber from its list. Returns false if the delivery is
-- in progress.
local function take_out_delivery(job, token)
    return redis.call('ZREM', P .. 'jobs:scheduled:main', job) == 1 or
        redis.call('ZREM', P .. 'jobs:scheduled:main:callbacks', job) == 1 or
        redis.call('SREM', P .. 'routemaster:blocked:main', job) == 1 or
        withdraw(job, destination_of(token, batch_of('main', job)))
end
