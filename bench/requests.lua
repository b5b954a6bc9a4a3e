-- Sends the prepared requests of a file in turn (lib/load.mjs), and prints one summary as JSON at the end.
local requests = {}
local next = 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = request end
  file:close()
end

function request()
  next = next + 1
  return requests[(next - 1) % #requests + 1]
end

-- Latencies in wrk are microseconds.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"sent":%d,"seconds":%f,"refused":%d,"broken":%d,"p50":%f,"p95":%f,"p99":%f,"max":%f}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(95) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
