-- Handing jobs to workers, and all that is noticed on the way.

local call = use('call')
local clock = use('clock')
local config = use('config')
local context = use('context')
local dependents = use('queue/dependents')
local ending = use('queue/ending')
local events = use('queue/events')
local history = use('queue/history')
local keys = use('keys')
local line = use('queue/line')
local ordered = use('queue/ordered')
local records = use('queue/records')
local settling = use('queue/settling')
local spawning = use('queue/spawning')
local statistics = use('queue/statistics')
local texts = use('texts')
local throttles = use('queue/throttles')

local SET_ASIDE = 'broken-record'
local PASSED_OVER = 1000 -- after so many jobs that a throttle holds back, or that are broken, a pop gives what it has found
local STEP = 1000

local taking = {}

-- Where a record says that its job is: is it really there?
local function is_where_it_says(job)
  local places = {
    waiting = keys.work, scheduled = keys.scheduled, depends = keys.depends, throttled = keys.throttled,
    running = keys.locks, stalled = keys.locks,
  }
  if job.state == 'complete' then return call('zscore', keys.completed(), job.jid) end
  local place = places[job.state]
  return place and job.hash.state and job.queue ~= '' and call('zscore', place(job.queue), job.jid)
end

-- Fail a job whose record cannot be trusted, so that the others flow. What cannot be read of it gets its default.
function taking.set_aside(job, reason)
  records.make_readable(job)
  local mended = records.find(job.jid)
  ending.fail(mended, SET_ASIDE, reason, mended.worker)
  if mended.worker ~= '' then call('zrem', keys.held_by(mended.worker), mended.jid) end
  dependents.lost(mended.jid)
end

-- The job of an entry in a collection of the queue, if it can be given out from there; the collection has given up the entry. Otherwise the
-- job is put aside, or the entry was a stray one.
local function usable(jid, queue, state)
  local job = records.find_whole(jid)
  if not job then return nil end
  -- Old scripts have jobs that were timed out by hand in the line, before all others.
  local fits = job.queue == queue and (job.state == state or (state == 'waiting' and job.state == 'stalled'))
  if not fits and is_where_it_says(job) then return nil end
  local reason = records.problem(job)
  if not reason and not fits then
    reason = 'its record says that it is ' .. job.state .. ' in "' .. job.queue .. '"'
  end
  if reason then
    job.queue = queue
    call('hset', keys.job(jid), 'queue', queue)
    job.hash.queue = queue
    taking.set_aside(job, reason)
    return nil
  end
  return job
end

-- Take a place in each of the job's throttles, or hold it back.
local function admit(job)
  if not job.throttled then return true end
  if throttles.have_room(job.throttles) then
    throttles.take_places(job)
    return true
  end
  history.append(job.jid, nil, history.entry('throttled', texts.object('q', texts.quote(job.queue))))
  throttles.hold_back(job, line.score(job.priority, job.ready))
  return false
end

-- Those jobs of a collection that can start, in order. They, and those that cannot, leave it.
local function admitted(key, jids, queue, state, count, into)
  local taken, passed_over = 0, 0
  for _, jid in ipairs(jids) do
    if taken == count or passed_over == PASSED_OVER then break end
    local job = usable(jid, queue, state)
    call('zrem', key, jid)
    if job and admit(job) then
      taken = taken + 1
      into[#into + 1] = job
    else
      passed_over = passed_over + 1
    end
  end
  return passed_over
end

-- How many jobs of the queue run.
local function running(queue)
  local key = keys.locks(queue)
  return call('zcard', key) - call('zcount', key, 0, 0)
end

-- How many more jobs of the queue may start: what is wanted, within its limit.
local function room(queue, wanted, limit)
  if limit <= 0 then return math.max(0, wanted) end
  return math.max(0, math.min(wanted, limit - running(queue)))
end

-- A lapsed lock: the first time its worker is told and has the grace period, then the job goes on. True if it is to be handed over.
local function lapse(job, grace)
  if not job.grace then
    events.tell_trackers(job.jid, 'stalled')
    events.lock_lost(job)
    history.append(job.jid, nil, history.entry('timed-out'))
    if grace > 0 then
      local expires = context.now + grace
      call('hset', keys.job(job.jid), 'expires', expires, 'grace', 1)
      call('zadd', keys.locks(job.queue), expires, job.jid)
      call('zadd', keys.held_by(job.worker), expires, job.jid)
      return false
    end
  end
  if job.retries ~= settling.NO_LIMIT then
    if job.remaining <= 0 then
      settling.exhaust(job, job.worker, nil, nil, true)
      return false
    end
    job.remaining = job.remaining - 1
  end
  job.ready, job.lapsed = job.expires, true
  return true
end

-- See to that many locks that lapsed by then, whatever limit is reached; those to hand over now.
local function see_to_lapsed(queue, count, by, into)
  if count <= 0 then return end
  local grace, warned = config.number('grace-period'), 0
  for _, jid in ipairs(ordered.between(keys.locks(queue), '(0', by, count)) do
    local job = usable(jid, queue, 'running')
    if not job then
      call('zrem', keys.locks(queue), jid)
    else
      if not job.grace then warned = warned + 1 end
      if lapse(job, grace) then
        call('zrem', keys.held_by(job.worker), jid)
        into[#into + 1] = job
      end
    end
  end
  if warned > 0 then statistics.count(queue, 'retries', warned) end
end

-- The next jobs of the line.
local function take(queue, count, into)
  if count <= 0 then return end
  spawning.bring_in_line(queue, count)
  local before, passed_over, key = #into, 0, keys.work(queue)
  while #into - before < count and passed_over < PASSED_OVER do
    local wanted = count - (#into - before)
    local jids = ordered.first(key, wanted)
    passed_over = passed_over + admitted(key, jids, queue, 'waiting', wanted, into)
    if #jids < wanted and not throttles.let_in_queue(queue) then return end
  end
end

-- Everything that a worker gets: those timed out by hand, those whose lock has lapsed and whose grace is over, and the next of the line.
function taking.take(queue, count, limit, heartbeat)
  local jobs = {}
  local key = keys.locks(queue)
  if call('zcount', key, '-inf', context.now_text) > 0 then
    local stalled = ordered.between(key, 0, 0, count)
    admitted(key, stalled, queue, 'stalled', room(queue, count, limit), jobs)
    local from_line = #jobs
    see_to_lapsed(queue, count - from_line, clock.lapsed_by(heartbeat), jobs)
    local over = #jobs - from_line
    take(queue, room(queue, count - over, limit) - from_line, jobs)
  else
    take(queue, room(queue, count, limit), jobs)
  end
  return jobs
end

-- The job of that name, if the queue may give it out: it waits in line, and there is room for it.
function taking.take_named(queue, jid, limit)
  local jobs = {}
  spawning.bring_in_line(queue, 1)
  if room(queue, 1, limit) > 0 and call('zscore', keys.work(queue), jid) then
    admitted(keys.work(queue), { jid }, queue, 'waiting', 1, jobs)
  end
  return jobs
end

-- Write who holds a job, and until when; its history as it is then.
local function hold(job, worker, expires, popped, history_limit)
  local hash, now = job.hash, context.now_text
  hash.state, hash.worker, hash.expires, hash['x-popped'], hash['x-attempt'] = 'running', worker, expires, now, job.attempt + 1
  local fields = {
    'state', 'running', 'worker', worker, 'expires', expires, 'x-popped', now, 'x-attempt', job.attempt + 1,
  }
  if context.whole_records then
    fields[#fields + 1] = 'time'
    fields[#fields + 1] = now
  end
  if job.lapsed then
    hash.remaining, hash['x-ready'], hash.grace = job.remaining, job.ready, 0
    for _, field in ipairs({ 'remaining', 'x-ready', 'grace' }) do
      fields[#fields + 1] = field
      fields[#fields + 1] = hash[field]
    end
  end
  call('hset', keys.job(job.jid), unpack(fields))
  job.state = 'running'
  return history.extend(job, history_limit, popped)
end

-- Let the worker hold the jobs, and give them as it gets them.
function taking.hand_out(jobs, queue, worker, heartbeat, history_limit)
  if #jobs == 0 then return jobs end
  local expires = texts.time(context.now + heartbeat)
  local popped = history.entry('popped', '{"worker":' .. texts.quote(worker) .. '}')
  local tracked = call('exists', keys.tracked()) == 1
  local locks, waits, whole = {}, {}, {}
  for index, job in ipairs(jobs) do
    local entries = hold(job, worker, expires, popped, history_limit)
    waits[index] = context.now - job.ready
    locks[2 * index - 1], locks[2 * index] = expires, job.jid
    local is_tracked = tracked and call('zscore', keys.tracked(), job.jid)
    if is_tracked then events.publish('popped', job.jid) end
    whole[index] = records.whole(job, is_tracked or false, entries)
  end
  for start = 1, #locks, STEP do
    call('zadd', keys.locks(queue), unpack(locks, start, math.min(start + STEP - 1, #locks)))
    call('zadd', keys.held_by(worker), unpack(locks, start, math.min(start + STEP - 1, #locks)))
  end
  statistics.record('wait', queue, waits)
  return whole
end

-- What a pop would give, without locking anything.
function taking.show(queue, count)
  local jids = ordered.between(keys.locks(queue), '-inf', context.now, count)
  local left = count - #jids
  if left > 0 then
    spawning.bring_in_line(queue, left)
    local waiting = ordered.line(keys.work(queue), 0, left)
    if #waiting < left and throttles.let_in_queue(queue) then waiting = ordered.line(keys.work(queue), 0, left) end
    for _, jid in ipairs(waiting) do jids[#jids + 1] = jid end
  end
  local found = {}
  for _, jid in ipairs(jids) do
    local job = records.find_whole(jid)
    if job and job.queue == queue and not records.problem(job) then found[#found + 1] = records.whole(job) end
  end
  return found
end

return taking
