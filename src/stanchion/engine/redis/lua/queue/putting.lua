-- Putting jobs into queues: what put, put_many, requeue, recurring jobs and unfail have in common.

local call = use('call')
local context = use('context')
local dependents = use('queue/dependents')
local events = use('queue/events')
local history = use('queue/history')
local keys = use('keys')
local line = use('queue/line')
local links = use('queue/links')
local next_number = use('sequence')
local records = use('queue/records')
local replies = use('replies')
local tags = use('queue/tags')
local texts = use('texts')

local putting = {}

local function put_entry(queue) return history.entry('put', texts.object(context.put_names_queue, texts.quote(queue))) end

-- What of the record outlives a put.
local KEPT = { 'failure', 'spawned_from_jid', 'x-attempt', 'x-awaited' }

local function keep(jid, fields)
  local values = call('hmget', keys.job(jid), unpack(KEPT))
  for index, field in ipairs(KEPT) do
    if values[index] then
      fields[#fields + 1] = field
      fields[#fields + 1] = values[index]
    end
  end
  call('del', keys.job(jid))
end

-- Write the record with all that old scripts expect of one.
local function write_whole(job, old)
  local fields = {
    'jid', job.jid, 'klass', job.klass, 'data', job.data, 'priority', job.priority, 'tags', texts.list(job.tags),
    'state', job.state, 'worker', '', 'expires', 0, 'queue', job.queue, 'retries', job.retries, 'remaining', job.retries,
    'time', job.time, 'throttles', texts.list(job.throttles), 'x-seq', job.seq, 'x-ready', job.ready, 'x-due', job.due,
    'x-policy', job.policy,
  }
  if job.due ~= 0 and job.state == 'depends' then
    fields[#fields + 1] = 'scheduled'
    fields[#fields + 1] = job.due
  end
  if job.spawned_from then
    fields[#fields + 1] = 'spawned_from_jid'
    fields[#fields + 1] = job.spawned_from
  end
  if old then keep(job.jid, fields) end
  call('hset', keys.job(job.jid), unpack(fields))
end

-- Write the record: what is not as it is by default, but for what the old one keeps.
local function write(job, old)
  if context.whole_records then return write_whole(job, old) end
  local fields = {
    'klass', job.klass, 'data', job.data, 'queue', job.queue, 'state', job.state, 'time', job.time, 'x-seq', job.seq,
  }
  local function add(field, value)
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end
  if job.ready ~= tonumber(job.time) then add('x-ready', job.ready) end
  if job.priority ~= 0 then add('priority', job.priority) end
  if job.retries ~= records.RETRIES then add('retries', job.retries) end
  if #job.tags > 0 then add('tags', texts.list(job.tags)) end
  if job.throttled then add('throttles', texts.list(job.throttles)) end
  if job.due ~= 0 then add('x-due', job.due) end
  if job.policy ~= 'wait' then add('x-policy', job.policy) end
  if job.spawned_from then add('spawned_from_jid', job.spawned_from) end
  if old then keep(job.jid, fields) end
  call('hset', keys.job(job.jid), unpack(fields))
end

-- Write a job where it stands, since a time. Of a new one, that and its queue are its history so far.
local function store(job, old, where, time, nudge)
  job.state, job.ready, job.due, job.time = where.state, where.ready, where.due, time
  job.seq = next_number()
  job.throttled = #job.throttles > 0
  if old or context.whole_records then history.append(job.jid, nil, history.put_entry_at(time, job.queue)) end
  write(job, old)
  local had = texts.names(old and old.tags)
  if #had > 0 or #job.tags > 0 then tags.reindex(job.jid, had, job.tags) end
  line.know_queue(job.queue)
  line.enter(job, nudge)
end

-- Refuse a jid that shares its keys with another job's collections.
local function check_jid(jid)
  local ending = keys.shared_ending('job', jid)
  if ending then replies.bad_argument('put', 'jid', 'must not end in ' .. ending .. ', which names a key of another job') end
end

-- Everything that can be wrong with a put. What the same command puts before is in planned, and gains this job.
function putting.check(job, old, planned)
  if not old then check_jid(job.jid) end
  for _, throttle in ipairs(job.throttles) do
    local ending = keys.shared_ending('throttle', throttle)
    if ending then replies.bad_argument('put', 'throttles', 'must not end in ' .. ending .. ', which names a key of another') end
  end
  local states = planned and planned.states
  local depends = job.depends
  if #depends == 0 and old and (states and states[job.jid] or old.state) == 'depends' then
    -- They stay, and what the policy says of those that have failed may be new.
    depends = planned and planned.depends[job.jid] or links.of(job.jid)
  end
  job.on = links.unfinished(depends, job.policy, states)
  if old and #job.on > 0 then links.refuse_circle(job.jid, job.on, planned and planned.depends) end
  return job
end

local function say(job, old, worker)
  events.log('put', 'jid', job.jid, 'queue', job.queue)
  if old then line.tell_robbed(old, worker) end
  events.tell_trackers(job.jid, 'put')
end

-- Put a job that was checked.
function putting.put(job, old, nudge)
  if old then
    line.leave(old)
    dependents.finish(old)
    if old.state == 'depends' then links.cut_all(old) end
  end
  local due = job.delay > 0 and context.now + job.delay or 0
  store(job, old, line.place(due, #job.on > 0, job.throttles, context.now), context.now_text, nudge)
  if #job.on > 0 then links.tie(job.jid, job.policy, job.on) end
  say(job, old, job.worker)
  dependents.tell_of_failed(job.on)
  return job.jid
end

-- Put a recurring job's child as if it had been put at its due time.
function putting.spawn(job, due)
  store(job, nil, line.place(0, false, job.throttles, due), texts.number(due))
  if not context.old_call then events.log('put', 'jid', job.jid, 'queue', job.queue) end
end

-- Renew a job as it is in a queue's line: with all its retries, and last among its equals. It must have left its place.
function putting.line_up_again(job, queue, where, nudge, ...)
  dependents.finish(job)
  local entries = { ... }
  entries[#entries + 1] = put_entry(queue)
  history.append(job.jid, nil, unpack(entries))
  job.queue, job.state, job.ready, job.due, job.seq = queue, where.state, where.ready, where.due, next_number()
  call(
    'hset', keys.job(job.jid), 'queue', queue, 'state', job.state, 'x-ready', job.ready, 'x-due', job.due, 'x-seq', job.seq,
    'remaining', job.retries, 'worker', '', 'expires', 0, 'grace', 0, 'x-popped', 0
  )
  call('hdel', keys.job(job.jid), 'x-group', 'x-failed')
  line.enter(job, nudge)
end

return putting
