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
    'group', texts.quote(group), 'message', texts.quote(message),
    'when', texts.number(context.now), 'worker', texts.quote(worker)
  )
end

-- List a job under its group, the newest first; of those that failed at the same time the last put is first.
local function list_failed(group, job)
  local key = keys.failed(group)
  local newest = call('lindex', key, 0)
  local pivot
  local at = 0
  while newest do
    local found = call('hmget', keys.job(newest), 'x-failed', 'x-seq')
    if tonumber(found[1]) ~= context.now or (tonumber(found[2]) or 0) < job.seq then break end
    pivot = newest
    at = at + 1
    newest = call('lindex', key, at)
  end
  if pivot then
    call('linsert', key, 'after', pivot, job.jid)
  else
    call('lpush', key, job.jid)
  end
  call('sadd', keys.failures(), group)
end

-- Fail a job. The worker is who had it last; empty if nobody did.
function ending.fail(job, group, message, worker)
  line.leave(job)
  local more = texts.object('worker', texts.quote(worker), 'group', texts.quote(group))
  history.append(job.jid, history.entry('failed', more))
  list_failed(group, job)
  call(
    'hset', keys.job(job.jid), 'state', 'failed', 'queue', job.queue, 'worker', '', 'expires', 0, 'grace', 0, 'x-due', 0,
    'failure', ending.failure(group, message, worker), 'x-group', group, 'x-failed', context.now
  )
  if job.state == 'depends' then links.cut_all(job) end
  statistics.count(job.queue, 'failures', 1)
  statistics.count(job.queue, 'failed', 1)
  events.log('failed', 'jid', job.jid, 'worker', worker, 'group', group, 'message', message)
  events.tell_trackers(job.jid, 'failed')
  job.state = 'failed'
  job.hash['x-group'], job.hash['x-failed'] = group, context.now
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
