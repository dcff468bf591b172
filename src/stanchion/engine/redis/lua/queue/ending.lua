-- The ends of a job that others cause too: it fails, or it is removed. What follows for its dependents is told in dependents.

local call = use('call')
local context = use('context')
local events = use('queue/events')
local history = use('queue/history')
local keys = use('keys')
local line = use('queue/line')
local links = use('queue/links')
local statistics = use('queue/statistics')
local tags = use('queue/tags')
local texts = use('texts')

local ending = {}

-- The failure of a job as its record keeps it.
function ending.failure(group, message, worker)
  return texts.object(
    'group', texts.quote(group), 'message', texts.quote(message), 'when', context.when(), 'worker', texts.quote(worker)
  )
end

-- Is a job listed before one that fails now? The newest is first, of those of the same time the last put.
local function is_newer(jid, job)
  local found = call('hmget', keys.job(jid), 'x-failed', 'x-seq')
  local failed, seq = tonumber(found[1]) or 0, tonumber(found[2]) or 0
  return failed > context.now or (failed == context.now and seq > tonumber(job.seq))
end

-- How many of a list come before a job that fails now. Mostly none; of thousands that failed at one time few are asked: the steps double, then halve.
local function count_newer(key, job)
  local function newer_at(index)
    local other = call('lindex', key, index)
    return other and is_newer(other, job)
  end
  local low, high = 0, 1 -- what comes before low is newer; what is at high - 1 is not
  while newer_at(high - 1) do low, high = high, high * 2 end
  high = high - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if newer_at(middle) then low = middle + 1 else high = middle end
  end
  return low
end

local function list_failed(group, job)
  local key = keys.failed(group)
  local newer = count_newer(key, job)
  if newer == 0 then
    call('lpush', key, job.jid)
  else
    call('linsert', key, 'after', call('lindex', key, newer - 1), job.jid)
  end
  call('sadd', keys.failures(), group)
end

-- The entry in the history. Old clients are not told whose a job was that ran out of retries.
local function entry_of(group, worker, exhausted)
  if exhausted and context.old_call then
    return history.entry(context.out_of_retries, texts.object('group', texts.quote(group)))
  end
  return history.entry('failed', texts.object('worker', texts.quote(worker), 'group', texts.quote(group)))
end

-- Say that a job failed. Old clients are told in another order if it ran out of retries, and only part of it unless a pop found that.
local function tell(job, group, message, worker, exhausted)
  local function tell_all() events.log('failed', 'jid', job.jid, 'worker', worker, 'group', group, 'message', message) end
  if not (exhausted and context.old_call) then tell_all() end
  events.tell_trackers(job.jid, 'failed')
  if exhausted and context.old_call and exhausted.by_pop then tell_all() end
end

-- Fail a job. The worker is who had it last; empty if nobody did. If no retry was left, exhausted says how that was found.
function ending.fail(job, group, message, worker, exhausted)
  line.leave(job)
  history.append(job.jid, nil, entry_of(group, worker, exhausted))
  list_failed(group, job)
  call(
    'hset', keys.job(job.jid), 'state', 'failed', 'queue', job.queue, 'worker', '', 'expires', 0, 'grace', 0, 'x-due', 0,
    'failure', ending.failure(group, message, worker), 'x-group', group, 'x-failed', context.now_text
  )
  if job.state == 'depends' then links.cut_all(job) end
  statistics.count(job.queue, 'failures', 1)
  statistics.count(job.queue, 'failed', 1)
  tell(job, group, message, worker, exhausted)
  job.state = 'failed'
end

-- Remove a job's record, with all that belongs to it alone.
local function erase(job)
  if job.tags and job.tags ~= '[]' then tags.reindex(job.jid, (texts.names(job.tags)), {}) end
  local jid = job.jid
  call('del', keys.job(jid), keys.history(jid), keys.dependencies(jid), keys.dependents(jid), keys.concerned(jid))
  call('srem', keys.releases(), jid)
end

-- Remove a job because somebody wants it gone, and say so. Those that depend on it are the caller's to tell: their list is returned.
function ending.cancel(job)
  line.leave(job)
  if job.state == 'depends' then links.cut_all(job) end
  local concerned = job.awaited and links.concerned(job.jid) or {}
  erase(job)
  local worker, queue = job.worker, job.queue
  if job.state ~= 'running' then worker = '' end
  events.log('canceled', 'jid', job.jid, 'worker', worker, 'queue', queue)
  events.tell_worker(worker, 'canceled', 'jid', job.jid, 'worker', worker, 'queue', queue)
  events.tell_trackers(job.jid, 'canceled')
  call('zrem', keys.tracked(), job.jid)
  return concerned
end

-- Remove a complete job that nobody waits for.
function ending.forget(job)
  call('zrem', keys.completed(), job.jid)
  erase(job)
end

return ending
