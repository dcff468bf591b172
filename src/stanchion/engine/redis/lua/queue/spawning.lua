-- What comes due: scheduled jobs come in line, recurring jobs spawn their children.

local call = use('call')
local context = use('context')
local keys = use('keys')
local line = use('queue/line')
local ordered = use('queue/ordered')
local putting = use('queue/putting')
local records = use('queue/records')
local recurrence = use('rules/recurrence')
local templates = use('queue/templates')

local SPAWNED, DUE = 250, 500 -- the most that one command does: some twenty milliseconds of the server's time

local spawning = {}

-- The next number for a child: one that no other job's jid is using.
local function free_number(jid, count)
  return recurrence.free_number(count, function(number)
    return call('exists', keys.job(jid .. '-' .. string.format('%.0f', number))) == 1
  end)
end

local function child(template, count)
  return {
    jid = template.jid .. '-' .. string.format('%.0f', count), queue = template.queue, klass = template.klass, data = template.data,
    priority = template.priority, tags = template.tags, retries = template.retries, throttles = template.throttles,
    policy = 'wait', spawned_from = template.jid,
  }
end

local function spawn(template, limit)
  local times, next_due =
    recurrence.due_times(template.next_due, template.interval, context.now, template.backlog, limit)
  local count = template.count
  for _, due in ipairs(times) do
    count = free_number(template.jid, count)
    putting.spawn(child(template, count), due)
  end
  call('hset', keys.recurring(template.jid), 'count', count)
  call('zadd', keys.recur(template.queue), next_due, template.jid)
  return #times
end

-- Spawn what is due in the queue, no more of a template than is wanted. Of each template, since the best of all that is due may be any's.
local function spawn_due(queue, wanted)
  local left = SPAWNED
  for _, jid in ipairs(call('zrangebyscore', keys.recur(queue), '-inf', context.now, 'limit', 0, SPAWNED)) do
    if left <= 0 then return end
    local template = templates.find(jid)
    if template and template.queue == queue then
      left = left - spawn(template, math.min(wanted, left))
    else
      call('zrem', keys.recur(queue), jid)
    end
  end
end

local function come_due(queue)
  local key = keys.scheduled(queue)
  for _, jid in ipairs(ordered.between(key, '-inf', context.now, DUE)) do
    call('zrem', key, jid)
    local job = records.find(jid)
    if job and job.state == 'scheduled' and job.queue == queue then
      line.stand(job, { state = 'waiting', ready = job.due, due = 0 })
    end
  end
end

-- Bring what is due in line.
function spawning.bring_in_line(queue, wanted)
  if call('exists', keys.recur(queue), keys.scheduled(queue)) == 0 then return end
  spawn_due(queue, wanted)
  come_due(queue)
end

return spawning
