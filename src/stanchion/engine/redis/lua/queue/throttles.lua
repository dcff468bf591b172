-- Throttles: their limits, the places that running jobs hold, and those that wait for one.
--
-- x:line:<throttle>\0<queue> has the jobs of a queue that bear the throttle and wait or are held back, best first; x:held:<queue>\0<set>
-- those held back with just this set of throttles.

local call = use('call')
local context = use('context')
local keys = use('keys')
local ordered = use('queue/ordered')
local texts = use('texts')
local wake = use('queue/wake')

local finite = texts.finite

local STEP = 500 -- the most jobs that one command looks at to let them in line

local throttles = {}

-- The maximum of a limit (0: none), and when it ends (0: never).
function throttles.limit(throttle)
  local found = call('hmget', keys.throttle(throttle), 'maximum', 'x-expires')
  local maximum, expires = math.max(0, finite(found[1]) or 0), finite(found[2]) or 0
  if expires > 0 and expires <= context.now then return 0, 0 end
  return maximum, expires
end

-- How many jobs of a queue may run at once (0: any number), by its option and by its own throttle.
function throttles.limit_of_queue(queue, option)
  local maximum = throttles.limit(keys.own_throttle(queue))
  if maximum == 0 or option <= 0 then return math.max(maximum, option) end
  return math.min(maximum, option)
end

-- How many places are free; infinite where there is no limit.
local function room(throttle)
  local maximum = throttles.limit(throttle)
  if maximum == 0 then return math.huge end
  return maximum - call('zcard', keys.places(throttle))
end

-- Has every one of the throttles a place?
function throttles.have_room(ids)
  for _, throttle in ipairs(ids) do
    if room(throttle) <= 0 then return false end
  end
  return true
end

-- Places that are free in each throttle asked for, less those given to jobs since. What is known of them already is not asked again.
local function rooms(known)
  local free, full = {}, {}
  known = known or {}
  local function of(throttle)
    known[throttle] = known[throttle] or room(throttle)
    free[throttle] = free[throttle] or known[throttle]
    return free[throttle]
  end
  local found = {}
  function found.least(ids)
    local least = math.huge
    for _, throttle in ipairs(ids) do least = math.min(least, of(throttle)) end
    return least
  end
  function found.take(ids, text)
    if full[text] then return false end
    if found.least(ids) <= 0 then
      full[text] = true
      return false
    end
    for _, throttle in ipairs(ids) do free[throttle] = free[throttle] - 1 end
    return true
  end
  return found
end

local function leave_lines(job)
  for _, throttle in ipairs(job.throttles) do
    local key = keys.line(throttle, job.queue)
    call('zrem', key, job.jid)
    if call('zcard', key) == 0 then call('srem', keys.lines(throttle), job.queue) end
  end
end

local function set_of(job) return texts.list(job.throttles) end

-- A job that waits, or is held back, lines up for its throttles.
function throttles.line_up(job, score)
  for _, throttle in ipairs(job.throttles) do
    call('zadd', keys.line(throttle, job.queue), score, job.jid)
    call('sadd', keys.lines(throttle), job.queue)
    if job.state == 'throttled' then call('zadd', keys.pending(throttle), score, job.jid) end
  end
  if job.state == 'throttled' then
    local set = set_of(job)
    call('zadd', keys.throttled(job.queue), job.ready, job.jid)
    call('zadd', keys.held(job.queue, set), score, job.jid)
    call('sadd', keys.sets(job.queue), set)
  end
end

local function stop_waiting(job)
  local set = set_of(job)
  call('zrem', keys.throttled(job.queue), job.jid)
  for _, throttle in ipairs(job.throttles) do call('zrem', keys.pending(throttle), job.jid) end
  local key = keys.held(job.queue, set)
  call('zrem', key, job.jid)
  if call('zcard', key) == 0 then call('srem', keys.sets(job.queue), set) end
end

-- Let a job that starts to run take a place in each of its throttles.
function throttles.take_places(job)
  leave_lines(job)
  for _, throttle in ipairs(job.throttles) do call('zadd', keys.places(throttle), context.now, job.jid) end
end

local function come_in(jid, queue, list, score)
  stop_waiting({ jid = jid, queue = queue, throttles = list })
  call('hset', keys.job(jid), 'state', 'waiting')
  call('zadd', keys.work(queue), score, jid)
  wake.up(queue)
end

-- Let those of a queue that wait for the throttle come in line, as far as there is room beside those in line that are better still.
local function let_in_of(throttle, queue, slots, known)
  local key, free, at = keys.line(throttle, queue), rooms(known), 0
  local coming = {}
  while slots > 0 and at < STEP do
    local jids = ordered.line(key, at, math.min(slots, 100))
    for _, jid in ipairs(jids) do
      local found = call('hmget', keys.job(jid), 'state', 'throttles')
      if found[1] == 'waiting' then
        slots = slots - 1
      elseif found[1] == 'throttled' and slots > 0 then
        local list = texts.names(found[2])
        if free.take(list, found[2]) then
          slots = slots - 1
          coming[#coming + 1] = { jid, queue, list, call('zscore', key, jid) }
        end
      end
    end
    at = at + #jids
    if #jids == 0 then break end
  end
  for _, one in ipairs(coming) do come_in(unpack(one)) end
end

-- Let those that wait for the throttle come in line, as far as there is room: in each queue, since nobody knows which is popped next.
local function let_in(throttle, known)
  known[throttle] = known[throttle] or room(throttle)
  local free = known[throttle]
  if free <= 0 then return end
  local queues = call('smembers', keys.lines(throttle))
  table.sort(queues)
  for _, queue in ipairs(queues) do let_in_of(throttle, queue, free, known) end
end

function throttles.let_in(throttle) let_in(throttle, {}) end

function throttles.let_all_in(ids)
  local known = {}
  for _, throttle in ipairs(ids) do let_in(throttle, known) end
end

-- Free the places of a job that leaves its state, and let others come in line instead.
function throttles.step_back(job)
  if job.state == 'throttled' then stop_waiting(job) end
  if job.state == 'waiting' or job.state == 'throttled' then leave_lines(job) end
  if job.state == 'running' then
    for _, throttle in ipairs(job.throttles) do call('zrem', keys.places(throttle), job.jid) end
  end
  if job.state == 'waiting' or job.state == 'running' then throttles.let_all_in(job.throttles) end
end

-- Take a job, for which one of its throttles has no place, out of the line: others may have the places of the rest.
function throttles.hold_back(job, score)
  job.state = 'throttled'
  call('hset', keys.job(job.jid), 'state', 'throttled')
  throttles.line_up(job, score)
  throttles.let_all_in(job.throttles)
end

local function candidates(queue, free)
  local found = {}
  for _, set in ipairs(call('smembers', keys.sets(queue))) do
    local list = texts.names(set)
    local least = free.least(list)
    if least > 0 then
      local key = keys.held(queue, set)
      for _, jid in ipairs(ordered.line(key, 0, math.min(least, STEP))) do
        local fields = call('hmget', keys.job(jid), 'priority', 'x-ready', 'time', 'x-seq')
        found[#found + 1] = {
          jid = jid, list = list, set = set, score = call('zscore', key, jid),
          priority = finite(fields[1]) or 0, ready = finite(fields[2]) or finite(fields[3]) or 0,
          seq = finite(fields[4]) or 0,
        }
      end
    end
  end
  return ordered.sort_line(found)
end

-- Let all those of a queue come in line that have room; true if there are any. For pops that find the line empty.
function throttles.let_in_queue(queue)
  local free, any = rooms(), false
  for _, one in ipairs(candidates(queue, free)) do
    if free.take(one.list, one.set) then
      come_in(one.jid, queue, one.list, one.score)
      any = true
    end
  end
  return any
end

-- Would let_in_queue let anybody in?
function throttles.may_come(queue)
  local free = rooms()
  for _, set in ipairs(call('smembers', keys.sets(queue))) do
    if free.least((texts.names(set))) > 0 then return true end
  end
  return false
end

-- Put a job whose priority changed to its new place among those that wait.
function throttles.rescore(job, score)
  for _, throttle in ipairs(job.throttles) do
    call('zadd', keys.line(throttle, job.queue), score, job.jid)
    if job.state == 'throttled' then call('zadd', keys.pending(throttle), score, job.jid) end
  end
  if job.state == 'throttled' then call('zadd', keys.held(job.queue, set_of(job)), score, job.jid) end
end

-- Remove a limit; those that waited for it come back in line.
function throttles.remove(throttle)
  call('del', keys.throttle(throttle))
  call('srem', keys.throttles(), throttle)
  call('zrem', keys.expiring(), throttle)
  throttles.let_in(throttle)
end

return throttles
