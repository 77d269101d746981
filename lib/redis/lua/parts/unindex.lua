local function forget_name(key, name)
    redis.pcall('ZREM', P .. 'routemaster:index:' .. key, name)
end
