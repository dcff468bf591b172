-- How many seconds until one of the queues may give a job: 0 or less if one may now. For those about to sleep so long: a put wakes them.

local call = use('call')
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

local function next_of(queue)
  if call('sismember', keys.paused(), queue) == 1 then return math.huge end
  local locks = keys.locks(queue)
  local _, limit = config.of_queue(queue)
  local full = limit > 0 and call('zcount', locks, '(' .. context.now, '+inf') >= limit
  if full then return first_score(locks, '(0') - context.now end
  if call('exists', keys.work(queue)) == 1 or throttles.may_come(queue) then return NOW end
  local first = math.min(first_score(locks, '-inf'), first_score(keys.scheduled(queue), '-inf'), first_score(keys.recur(queue), '-inf'))
  if call('exists', keys.throttled(queue)) == 1 then first = math.min(first, first_score(keys.expiring(), '-inf')) end
  return first - context.now
end

return function(args)
  if call('exists', keys.releases()) == 1 then return texts.number(NOW) end
  local least = math.huge
  for _, queue in ipairs(args:names()) do
    wake.expect(queue, context.now)
    least = math.min(least, next_of(queue))
  end
  if least == math.huge then return 'inf' end
  return texts.number(least)
end
