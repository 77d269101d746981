-- FindQueueWorkers: returns the live workers that serve a queue.
-- KEYS  1 routemaster:serving:{q}
-- ARGV  1 prefix, 2 now, 3 fleet, 4 queue
-- Reply: queue_workers().
return queue_workers(ARGV[4])
