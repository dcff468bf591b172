-- Workers, as old clients list and forget them.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native_worker = use('native/worker')
local native_worker_deregister = use('native/worker_deregister')
local native_workers = use('native/workers')
local run = use('script/run')

local workers = {}

local function list(first, last, style)
  local found, shown = run(native_workers), {}
  for index = #found - first, math.max(1, #found - last), -1 do
    local name, running, lapsed = unpack(found[index])
    shown[#shown + 1] =
      json.object('name', json.quote(name), 'jobs', json.number(running), 'stalled', json.number(lapsed))
  end
  return json.list(shown, style)
end

-- Every worker seen lately, the last seen first.
function workers.all(_, style) return list(0, math.huge, style) end

-- The jids that a worker holds, and those of which the lock has lapsed.
function workers.jobs(given, style)
  local held = run(native_worker, given:need('worker'))
  return json.object('jobs', json.names(held[1], style), 'stalled', json.names(held[2], style))
end

-- One worker; or all; or, after an empty name, those from a place to another.
function workers.workers(given, style)
  local count = given:count()
  if count == 0 then return workers.all(given, style) end
  if count < 3 or given.args[given.at] ~= '' then return workers.jobs(given, style) end
  given:text()
  local first, last = given:number('start'), given:number('last')
  return list(math.max(0, first), last < 0 and math.huge or last, style)
end

-- How many of them were known.
function workers.deregister(given) return run(native_worker_deregister, given:some('worker')) end

function workers.count() return #run(native_workers) end

-- The jids that a worker holds with a lock that lasts till then or longer.
function workers.held(given, style)
  local key = keys.held_by(given:need('worker'))
  return json.names(call('zrevrangebyscore', key, '+inf', given:number('from', 0)), style)
end

return workers
