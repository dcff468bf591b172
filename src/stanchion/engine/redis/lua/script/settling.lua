-- What old clients do to a running job, and to failed ones.

local backoff = use('script/backoff')
local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native_fail = use('native/fail')
local native_heartbeat = use('native/heartbeat')
local native_retry = use('native/retry')
local native_timeout = use('native/timeout')
local native_unfail = use('native/unfail')
local records = use('queue/records')
local run = use('script/run')
local settlements = use('queue/settling')

local MANY = 25

local settling = {}

local function number(text) return math.floor(tonumber(text)) end

local function read(given) return given:need('jid'), given:need('worker'), given:need('queue'), given:json('data') end

local function go_on(given, jid, worker, queue, data, next_queue, options)
  for _, name in ipairs({ 'delay', 'depends' }) do
    if options[name] and not next_queue then given:refuse('"' .. name .. '" cannot be used without a "next".') end
  end
  local command = {
    jid = jid, worker = worker, queue = queue, data = data, next = next_queue,
    delay = options.delay and given:number_of(options.delay, 'delay') or 0,
    depends = given:names_of(options.depends, 'depends') or {},
  }
  return settlements.complete_all({ command }, { settlements.check_complete(command) })[1]
end

function settling.complete(given)
  local jid, worker, queue, data = read(given)
  local options = given:options()
  return go_on(given, jid, worker, queue, data, options.next, options)
end

-- The next queue, then options; or, from two clients, all as options of which the first is next.
function settling.complete_and_requeue(given)
  local jid, worker, queue, data = read(given)
  local next_queue
  if given:count() % 2 == 1 then next_queue = given:text() end
  local options = given:options()
  next_queue = next_queue or options.next or given:need('next')
  return go_on(given, jid, worker, queue, data, next_queue, options)
end

function settling.fail(given)
  local jid, worker, group, message = given:need('jid'), given:need('worker'), given:need('group'), given:need('message')
  return run(native_fail, jid, worker, group, message, given:optional_json('data'))
end

-- Without a delay, that of the job's backoff.
local function delay_before_retry(given, jid)
  local delay = given:number('delay', 0)
  if delay > 0 then return delay end
  local job = records.find(jid)
  return job and backoff.delay(jid, job.retries - job.remaining) or 0
end

function settling.retry(given)
  local jid, queue, worker = given:need('jid'), given:need('queue'), given:need('worker')
  local delay = delay_before_retry(given, jid)
  return number(run(native_retry, jid, queue, worker, delay, given:text(), given:text()))
end

function settling.heartbeat(given)
  local jid, worker = given:need('jid'), given:need('worker')
  return number(run(native_heartbeat, jid, worker, given:optional_json('data')))
end

function settling.timeout(given, style)
  local jids, workers = given:rest(), {}
  for index, jid in ipairs(jids) do workers[index] = call('hget', keys.job(jid), 'worker') end
  if #jids > 0 then run(native_timeout, jids) end
  for index, jid in ipairs(style.keeps_worker and jids or {}) do call('hset', keys.job(jid), 'worker', workers[index]) end
  return false
end

function settling.unfail(given)
  local queue, group = given:need('queue'), given:need('group')
  return run(native_unfail, queue, group, math.max(0, given:number('count', MANY)))
end

function settling.unfail_some(given)
  local queue, group = given:need('queue'), given:need('group')
  local count = given:number('count', MANY)
  if count <= 0 then given:refuse('Arg "count" not a number above 0: ' .. json.number(count)) end
  return run(native_unfail, queue, group, count)
end

return settling
