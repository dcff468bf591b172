-- What happens to the jobs that wait for another when it completes, fails, or is removed.
--
-- Up to STEP dependents are told at once; the rest in later commands (x:releases), so that no command grows with their number.

local call = use('call')
local context = use('context')
local ending = use('queue/ending')
local keys = use('keys')
local line = use('queue/line')
local links = use('queue/links')
local quiet = use('queue/quiet')
local records = use('queue/records')

local STEP = 100 -- what is told at once: some ten milliseconds of the server's time
local MANY = 50 -- from so many on, those who line up at once are told apart by their scores
local GROUP = 'dependency-failed'

local dependents = {}

local function leave_rest(jid)
  call('sadd', keys.releases(), jid)
  quiet.disturb()
end

-- Let those of the jobs that wait for nothing any more come in line: now, or at the time kept for them.
function dependents.release_free(jids)
  local free = {}
  for _, jid in ipairs(jids) do
    local job = records.find(jid)
    if job and job.state == 'depends' and call('scard', keys.dependencies(jid)) == 0 then free[#free + 1] = job end
  end
  table.sort(free, function(a, b) return tonumber(a.seq) < tonumber(b.seq) end)
  for index, job in ipairs(free) do
    call('zrem', keys.depends(job.queue), job.jid)
    line.stand(job, line.place(job.due, false, job.throttles, context.now), #free > MANY and index - 1 or 0)
  end
end

local function release(jids, on)
  for _, jid in ipairs(jids) do links.cut(jid, on) end
  dependents.release_free(jids)
end

-- The job is complete: those that waited for it no longer do. How many were told.
function dependents.completed(job)
  if not job.awaited then return 0 end
  local key = keys.dependents(job.jid)
  local count = call('scard', key)
  if count == 0 then return 0 end
  release(count > STEP and call('srandmember', key, STEP) or call('smembers', key), job.jid)
  if count > STEP then leave_rest(job.jid) end
  return math.min(count, STEP)
end

-- Apply a dependent's policy; what is to be told next, if anything: its jid, and its dependents if it is gone.
local function follow(jid, cause)
  local job = records.find(jid)
  if not job or job.state ~= 'depends' then
    links.cut(jid, cause)
  elseif job.policy == 'run' then
    release({ jid }, cause)
  elseif job.policy == 'cancel' and not links.has_patient(jid) then
    return { jid = jid, concerned = ending.cancel(job) }
  else
    -- One that others wait for patiently is not taken from under them: it fails, where they can be seen to be blocked.
    ending.fail(job, GROUP, 'Job ' .. cause .. ', which it depends on, failed or was canceled', '')
    return { jid = jid }
  end
end

-- The job failed or was removed: each dependent's policy says what that means for it, and for its dependents in turn. Those of a job that
-- is removed are given, and all told at once: nothing is left that could be come back to. How many were told.
function dependents.lost(jid, concerned)
  local gone, at, told = { { jid = jid, concerned = concerned } }, 1, 0
  while gone[at] do
    local cause = gone[at]
    at = at + 1
    local jids = cause.concerned
    if not jids and told < STEP then
      jids = links.concerned(cause.jid, STEP)
      if #jids == STEP then leave_rest(cause.jid) end
    elseif not jids then
      leave_rest(cause.jid)
    end
    for _, dependent in ipairs(jids or {}) do
      gone[#gone + 1] = follow(dependent, cause.jid)
      told = told + 1
    end
  end
  return told
end

local function tell_rest(jid)
  call('srem', keys.releases(), jid)
  local job = records.find(jid)
  if job and job.state == 'failed' then return dependents.lost(jid) end
  if job and job.state == 'complete' then return dependents.completed(job) end
  return 0
end

-- Tell another step of the dependents that were left for later.
function dependents.go_on()
  local told = 0
  for _, jid in ipairs(call('srandmember', keys.releases(), STEP)) do
    if told >= STEP then return end
    told = told + tell_rest(jid)
  end
end

-- Tell all the dependents left, before the job becomes something else.
function dependents.finish(job)
  if not job.awaited or (job.state ~= 'failed' and job.state ~= 'complete') then return end
  while call('sismember', keys.releases(), job.jid) == 1 do tell_rest(job.jid) end
end

-- Apply the policies of new dependents to those of their dependencies that had failed before.
function dependents.tell_of_failed(on)
  for _, other in ipairs(on) do
    if other.state == 'failed' then dependents.lost(other.jid) end
  end
end

return dependents
