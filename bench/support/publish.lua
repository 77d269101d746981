-- A request for wrk, and its summary: one line of JSON after `summary `.
wrk.method = "POST"
wrk.path = "/topics/orders"
wrk.body = '{"type":"update","url":"https://shop.example/orders/1234567","timestamp":null}'
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Basic " .. os.getenv("BENCH_CREDENTIALS")

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        'summary {"requests":%d,"microseconds":%d,"not_2xx":%d,"broken":%d,' ..
        '"p50_us":%d,"p99_us":%d}\n',
        summary.requests, summary.duration, errors.status,
        errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end
