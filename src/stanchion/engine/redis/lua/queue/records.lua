-- Jobs as the hashes keep them. A field that is missing has its default.

local call = use('call')
local context = use('context')
local history = use('queue/history')
local keys = use('keys')
local replies = use('replies')
local texts = use('texts')

local finite = texts.finite

local records = {}

records.RETRIES = 5 -- of a job that was put without saying how many

local LISTS = { 'tags', 'throttles' }
local STATES = {
  waiting = true, scheduled = true, depends = true, throttled = true,
  running = true, stalled = true, failed = true, complete = true,
}
-- All fields but those that may be long.
local FIELDS = {
  'state', 'queue', 'worker', 'priority', 'retries', 'remaining', 'tags', 'throttles', 'expires', 'grace', 'time',
  'x-ready', 'x-seq', 'x-due', 'x-popped', 'x-attempt', 'x-policy', 'x-awaited', 'x-group', 'x-failed', 'klass',
}
local NUMBERS = { 'priority', 'retries', 'remaining', 'expires', 'time', 'x-ready', 'x-seq', 'x-due', 'x-popped', 'x-attempt' }

-- The job of a table of fields.
function records.of(jid, hash)
  local retries = hash.retries and finite(hash.retries) or records.RETRIES
  local throttles = texts.names(hash.throttles)
  return {
    jid = jid,
    hash = hash,
    state = STATES[hash.state] and hash.state or 'failed',
    queue = hash.queue or '',
    worker = hash.worker or '',
    priority = hash.priority and finite(hash.priority) or 0,
    retries = retries,
    remaining = hash.remaining and finite(hash.remaining) or retries,
    tags = hash.tags,
    throttles = throttles,
    throttled = #throttles > 0,
    expires = hash.expires and finite(hash.expires) or 0,
    grace = hash.grace == '1',
    ready = finite(hash['x-ready'] or hash.time) or 0,
    seq = hash['x-seq'] or 0,
    due = hash['x-due'] and finite(hash['x-due']) or 0,
    popped = hash['x-popped'] and finite(hash['x-popped']),
    attempt = hash['x-attempt'] and finite(hash['x-attempt']) or 0,
    policy = hash['x-policy'] or 'wait',
    awaited = hash['x-awaited'] == '1' or not hash['x-seq'],
  }
end

-- The job, without its data and result, or nil.
function records.find(jid)
  local key = keys.job(jid)
  if call('exists', key) == 0 then return nil end
  local values, hash = call('hmget', key, unpack(FIELDS)), {}
  for index, field in ipairs(FIELDS) do
    if values[index] then hash[field] = values[index] end
  end
  return next(hash) and records.of(jid, hash)
end

-- As much of a job as most ways to settle it need to know, or nil.
local function glance(jid)
  local found = call(
    'hmget', keys.job(jid), 'state', 'queue', 'worker', 'throttles', 'x-attempt', 'x-popped', 'x-awaited', 'x-seq'
  )
  if not found[1] and not found[2] then return nil end
  local throttles = texts.names(found[4])
  return {
    jid = jid,
    state = STATES[found[1]] and found[1] or 'failed',
    queue = found[2] or '',
    worker = found[3] or '',
    throttles = throttles,
    throttled = #throttles > 0,
    attempt = found[5] and finite(found[5]) or 0,
    popped = found[6] and finite(found[6]),
    awaited = found[7] == '1' or not found[8],
    seq = found[8] or 0,
  }
end

-- The job with all of its fields, or nil.
function records.find_whole(jid)
  local flat = call('hgetall', keys.job(jid))
  if #flat == 0 then return nil end
  local hash = {}
  for index = 1, #flat, 2 do hash[flat[index]] = flat[index + 1] end
  return records.of(jid, hash)
end

function records.require(jid)
  return records.find(jid) or replies.refuse('job-not-found', 'jid', jid)
end

local function check_running(job)
  if job.state ~= 'running' then replies.refuse('job-not-running', 'jid', job.jid, 'state', job.state) end
  return job
end

function records.running(jid) return check_running(records.require(jid)) end

local function check_held(job, worker, attempt)
  check_running(job)
  if job.worker ~= worker then replies.refuse('lock-lost', 'jid', job.jid, 'worker', worker, 'holder', job.worker) end
  if attempt and attempt ~= job.attempt then
    replies.refuse('lock-lost', 'jid', job.jid, 'worker', worker, 'holder', 'attempt ' .. job.attempt)
  end
  return job
end

-- A job that the worker must hold, in its present attempt if one is named: as much of it as completing or failing it needs.
function records.held(jid, worker, attempt)
  return check_held(glance(jid) or replies.refuse('job-not-found', 'jid', jid), worker, attempt)
end

-- The same with all that is known of it, for when it goes on.
function records.held_whole(jid, worker, attempt) return check_held(records.require(jid), worker, attempt) end

-- What is wrong with a job that a worker should get, or nil.
function records.problem(job)
  local hash = job.hash
  if not STATES[hash.state] then return 'its state is missing or none' end
  for _, field in ipairs({ 'klass', 'data', 'queue' }) do
    if not hash[field] then return 'its ' .. field .. ' is missing' end
  end
  for index = 1, #NUMBERS do
    local value = hash[NUMBERS[index]]
    -- Digits are looked at before the whole: reading a number costs far more.
    if value and not string.find(value, '^%-?%d[%d.]*$') and value ~= '' and not finite(value) then
      return 'its ' .. NUMBERS[index] .. ' is no number'
    end
  end
  for _, field in ipairs(LISTS) do
    local _, is_read = texts.names(hash[field])
    if not is_read then return 'its ' .. field .. ' cannot be read' end
  end
end

-- Give a job that cannot be read the defaults of what is broken.
function records.make_readable(job)
  local hash, broken = job.hash, {}
  for _, field in ipairs(NUMBERS) do
    if hash[field] and not finite(hash[field]) then broken[#broken + 1] = field end
  end
  for _, field in ipairs(LISTS) do
    local _, is_read = texts.names(hash[field])
    if not is_read then broken[#broken + 1] = field end
  end
  if #broken > 0 then call('hdel', keys.job(job.jid), unpack(broken)) end
  for _, field in ipairs({ 'klass', 'data', 'queue' }) do
    if not hash[field] then call('hset', keys.job(job.jid), field, field == 'data' and 'null' or '?') end
  end
end

-- The fields of a job as a flat list, with times as exact texts.
local function flat(hash)
  local list = {}
  for field, value in pairs(hash) do
    list[#list + 1] = field
    list[#list + 1] = type(value) == 'number' and texts.number(value) or value
  end
  return list
end

-- When a scheduled job is due. Of one that an old script scheduled only its queue's collection tells.
local function due_of(job)
  if not job.hash['x-due'] then
    job.due = finite(call('zscore', keys.scheduled(job.queue), job.jid) or '') or 0
    job.hash['x-due'] = job.due
  end
  return job.due
end

-- The job as callers get it: jid, fields (for old clients as a table, to be shown to them), history, dependencies, dependents, tracked. One that
-- came due waits, whoever moves it.
function records.whole(job, tracked, entries)
  local hash = job.hash
  if job.state == 'scheduled' and due_of(job) <= context.now then
    hash.state, hash['x-ready'], hash['x-due'] = 'waiting', job.due, 0
  end
  local jid = job.jid
  if tracked == nil then tracked = call('zscore', keys.tracked(), jid) end
  local dependencies = job.state == 'depends' and call('smembers', keys.dependencies(jid)) or {}
  local dependents = job.awaited and call('smembers', keys.dependents(jid)) or {}
  return { jid, context.old_call and hash or flat(hash), entries or history.of(job), dependencies, dependents, tracked and 1 or 0 }
end

return records
