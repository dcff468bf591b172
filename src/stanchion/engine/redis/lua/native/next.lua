-- How many seconds until one of the queues may give a job: 0 or less if one may now. For those about to sleep so long: a put wakes them. Of
-- several who ask, one is told when something will be due, and the others only that nothing is.

local call = use('call')
local clock = use('clock')
local config = use('config')
local context = use('context')
local keys = use('keys')
local texts = use('texts')
local throttles = use('queue/throttles')
local wake = use('queue/wake')

local NOW = -1

local function first_score(key, low)
  return tonumber(call('zrangebyscore', key, low, '+inf', 'withscores', 'limit', 0, 1)[2]) or math.huge
end

-- When a lock ends next: later for those that are left alone because the server was away.
local function next_lock(locks, low, heartbeat)
  local first = first_score(locks, low)
  if first > context.now then return first end
  local by, till = clock.lapsed_by(heartbeat)
  return first > by and till or first
end

local function next_of(queue)
  if call('sismember', keys.paused(), queue) == 1 then return math.huge end
  local locks = keys.locks(queue)
  local heartbeat, limit = config.of_queue(queue)
  local full = limit > 0 and call('zcount', locks, '(' .. context.now, '+inf') >= limit
  if full then return next_lock(locks, '(0', heartbeat) - context.now end
  if call('exists', keys.work(queue)) == 1 or throttles.may_come(queue) then return NOW end
  local first = math.min(next_lock(locks, '-inf', heartbeat), first_score(keys.scheduled(queue), '-inf'),
    first_score(keys.recur(queue), '-inf'))
  if call('exists', keys.throttled(queue)) == 1 then first = math.min(first, first_score(keys.expiring(), '-inf')) end
  return first - context.now
end

-- The same for one who asks, and will wait for so long at most.
local function next_for(queue, asker, patience)
  wake.expect(queue, context.now)
  local seconds = next_of(queue)
  if seconds > 0 and seconds < math.huge and not wake.takes_alarm(queue, context.now + seconds, asker, patience) then
    return math.huge
  end
  return seconds
end

return function(args)
  if call('exists', keys.releases()) == 1 then return texts.number(NOW) end
  local queues, asker, patience = args:names(), args:text(), args:number()
  local least = math.huge
  for _, queue in ipairs(queues) do least = math.min(least, next_for(queue, asker, patience)) end
  if least == math.huge then return 'inf' end
  return texts.number(least)
end
