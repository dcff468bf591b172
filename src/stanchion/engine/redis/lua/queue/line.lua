-- How a job gets into a queue's line, and how it leaves wherever it is.

local call = use('call')
local context = use('context')
local events = use('queue/events')
local keys = use('keys')
local ordered = use('queue/ordered')
local statistics = use('queue/statistics')
local texts = use('texts')
local throttles = use('queue/throttles')
local wake = use('queue/wake')

local line = {}

local TICKS = 1e10 -- a second is so small a part of a priority

-- The score of a job in a line: higher means earlier.
function line.score(priority, ready) return priority - ready / TICKS end

-- Where a job gets to that is due then (0: at once) and waits for other jobs or not.
function line.place(due, depends, throttle_ids, now)
  if depends then return { state = 'depends', ready = now, due = due > now and due or 0 } end
  if due > now then return { state = 'scheduled', ready = due, due = due } end
  return { state = throttles.have_room(throttle_ids) and 'waiting' or 'throttled', ready = now, due = 0 }
end

-- Put a job, as its fields say, into the collection of its state. Of many that line up at once, each but the first comes a microsecond
-- later, so that their order need not be asked of their records.
function line.enter(job, nudge)
  local queue, state = job.queue, job.state
  if state == 'waiting' or state == 'throttled' then
    local score = line.score(job.priority, job.ready + (nudge or 0) * 1e-6)
    if state == 'waiting' then call('zadd', keys.work(queue), score, job.jid) end
    if job.throttled then throttles.line_up(job, score) end
  elseif state == 'scheduled' then
    call('zadd', keys.scheduled(queue), job.due, job.jid)
  elseif state == 'depends' then
    call('zadd', keys.depends(queue), job.ready, job.jid)
  end
  if state == 'waiting' or state == 'scheduled' then wake.up(queue) end
end

-- Let a job be at another place of its queue: its fields, and the collections.
function line.stand(job, where, nudge)
  job.state, job.ready, job.due = where.state, where.ready, where.due
  call('hset', keys.job(job.jid), 'state', job.state, 'x-ready', job.ready, 'x-due', job.due)
  line.enter(job, nudge)
end

-- The group of a failed job, and when it failed: from its failure, which old scripts write, too. Fields of ours may tell of a failure before
-- that; they are what is left where the failure cannot be read.
local function failure_of(job)
  local failure = texts.fields(call('hget', keys.job(job.jid), 'failure'))
  if failure.group then return failure.group, tonumber(failure.when) end
  return job.hash['x-group'], tonumber(job.hash['x-failed'])
end

local function leave_failed(job)
  local group, failed_at = failure_of(job)
  if type(group) ~= 'string' then return end
  call('lrem', keys.failed(group), 1, job.jid)
  if call('llen', keys.failed(group)) == 0 then call('srem', keys.failures(), group) end
  if failed_at then statistics.uncount_failed(job.queue, failed_at) end
end

local LEAVE = {
  waiting = function(job) call('zrem', keys.work(job.queue), job.jid) end,
  scheduled = function(job) call('zrem', keys.scheduled(job.queue), job.jid) end,
  depends = function(job) call('zrem', keys.depends(job.queue), job.jid) end,
  throttled = function() end,
  complete = function(job) call('zrem', keys.completed(), job.jid) end,
  failed = leave_failed,
  stalled = function(job) call('zrem', keys.locks(job.queue), job.jid) end,
  running = function(job)
    call('zrem', keys.locks(job.queue), job.jid)
    call('zrem', keys.held_by(job.worker), job.jid)
  end,
}

-- The job leaves the collection of its state, and its places. The caller gives it a new state, or removes it.
function line.leave(job)
  LEAVE[job.state](job)
  if job.throttled then throttles.step_back(job) end
end

-- The queue is a known one from now on.
function line.know_queue(queue) ordered.append(keys.queues(), context.now, queue) end

-- Tell the worker that held the job, if it is another than who moves it now.
function line.tell_robbed(job, mover)
  if job.state == 'running' and job.worker ~= mover then events.lock_lost(job) end
end

return line
