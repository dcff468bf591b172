-- What the holder of a running job, or an operator, does to it: complete, fail, retry.

local call = use('call')
local config = use('config')
local context = use('context')
local dependents = use('queue/dependents')
local ending = use('queue/ending')
local events = use('queue/events')
local history = use('queue/history')
local keys = use('keys')
local line = use('queue/line')
local links = use('queue/links')
local putting = use('queue/putting')
local records = use('queue/records')
local replies = use('replies')
local statistics = use('queue/statistics')
local upkeep = use('queue/upkeep')

local NO_LIMIT = -1

local settling = {}

settling.NO_LIMIT = NO_LIMIT

-- Read and check one completion.
function settling.read_complete(args)
  return {
    jid = args:text(), worker = args:text(), queue = args:text(), data = args:text(), next = args:text(),
    delay = args:number() or 0, depends = args:names(), result = args:text(), attempt = args:number(),
  }
end

-- Everything that can be wrong with a completion; the job with it.
function settling.check_complete(command)
  local held = command.next and records.held_whole or records.held
  local job = held(command.jid, command.worker, command.attempt)
  if job.queue ~= command.queue then
    replies.refuse('wrong-queue', 'jid', job.jid, 'queue', command.queue, 'actual', job.queue)
  end
  if command.next then
    command.on = links.unfinished(command.depends, job.policy)
    if #command.on > 0 then links.refuse_circle(job.jid, command.on) end
  end
  return job
end

-- Fields that a completion gives: data and result, if there are any.
local function gifts(command, fields)
  if command.data then
    fields[#fields + 1] = 'data'
    fields[#fields + 1] = command.data
  end
  if command.result then
    fields[#fields + 1] = 'x-result'
    fields[#fields + 1] = command.result
  end
  return fields
end

local function finish(job, command, history_limit)
  line.leave(job)
  history.append(job.jid, history_limit, history.entry('done'))
  local fields = { 'state', 'complete', 'queue', '', 'worker', '', 'expires', '0', 'grace', '0' }
  call('hset', keys.job(job.jid), unpack(gifts(command, fields)))
  call('zadd', keys.completed(), context.now_text, job.jid)
  events.tell_trackers(job.jid, 'completed')
  events.log('completed', 'jid', job.jid, 'queue', job.queue)
  job.state = 'complete'
  dependents.completed(job)
  return 'complete'
end

local function advance(job, command)
  local from = job.queue
  line.leave(job)
  local due = command.delay > 0 and context.now + command.delay or 0
  local where = line.place(due, #command.on > 0, job.throttles, context.now)
  putting.line_up_again(job, command.next, where, 0, history.entry('done'))
  links.tie(job.jid, job.policy, command.on)
  local given = gifts(command, {})
  if #given > 0 then call('hset', keys.job(job.jid), unpack(given)) end
  line.know_queue(command.next)
  events.tell_trackers(job.jid, 'completed')
  events.log('advanced', 'jid', job.jid, 'queue', from, 'to', command.next)
  dependents.tell_of_failed(command.on)
  local now_in = call('hget', keys.job(job.jid), 'state')
  return now_in or where.state
end

-- Complete jobs that were checked, and then do at once for all of them what need not be done for each. Their new states.
function settling.complete_all(commands, jobs)
  local runs, queues, states, complete = {}, {}, {}, 0
  local age, count, history_limit = config.numbers('jobs-history', 'jobs-history-count', 'max-job-history')
  for index, command in ipairs(commands) do
    local job, queue = jobs[index], command.queue
    if not runs[queue] then
      runs[queue] = {}
      queues[#queues + 1] = queue
    end
    table.insert(runs[queue], context.now - (job.popped or context.now))
    states[index] = command.next and advance(job, command) or finish(job, command, history_limit)
    if states[index] == 'complete' then complete = complete + 1 end
  end
  for _, queue in ipairs(queues) do statistics.record('run', queue, runs[queue]) end
  if complete > 0 then upkeep.expect_forgetting(age, count) end
  upkeep.keep_up(complete)
  return states
end

-- Fail a job for good.
function settling.fail(job, group, message, worker)
  ending.fail(job, group, message, worker)
  dependents.lost(job.jid)
end

-- Fail a job that has no retries left. Was that noticed by a pop?
function settling.exhaust(job, worker, group, message, by_pop)
  ending.fail(
    job, group or 'failed-retries-' .. job.queue,
    message or 'Job exhausted retries in queue "' .. job.queue .. '"', worker, { by_pop = by_pop }
  )
  dependents.lost(job.jid)
end

-- Put a running job back to be tried again; the retries that remain.
function settling.retry(job, command)
  local remaining = job.retries == NO_LIMIT and NO_LIMIT or job.remaining - (command.free and 0 or 1)
  if remaining < 0 and job.retries ~= NO_LIMIT then
    settling.exhaust(job, command.worker, command.group, command.message)
    return remaining
  end
  line.leave(job)
  local where = line.place(command.delay > 0 and context.now + command.delay or 0, false, job.throttles, context.now)
  job.queue, job.state, job.ready, job.due = command.queue, where.state, where.ready, where.due
  local fields = {
    'queue', job.queue, 'state', job.state, 'x-ready', job.ready, 'x-due', job.due, 'worker', '', 'expires', 0, 'grace', 0,
    'remaining', remaining,
  }
  if command.group then
    fields[#fields + 1] = 'failure'
    fields[#fields + 1] = ending.failure(command.group, command.message or '', command.worker)
  end
  call('hset', keys.job(job.jid), unpack(fields))
  line.know_queue(job.queue)
  line.enter(job)
  return remaining
end

-- Take the lock of a running job away.
function settling.timeout(job)
  line.leave(job)
  history.append(job.jid, nil, history.entry('timed-out'))
  call(
    'hset', keys.job(job.jid), 'state', 'stalled', 'worker', '', 'expires', 0, 'grace', 0, 'x-ready', context.now
  )
  call('zadd', keys.locks(job.queue), 0, job.jid)
  events.lock_lost(job)
end

return settling
