-- What can be seen of a queue: counts and pages of jids. A scheduled job whose time has come counts as waiting: nothing has to be moved to read.

local call = use('call')
local context = use('context')
local keys = use('keys')
local ordered = use('queue/ordered')
local records = use('queue/records')

local STEP = 1000 -- how many jobs one call looks at where each has to be looked at

local listings = {}

-- Counts of a queue: name, waiting, running, stalled, scheduled, depends, throttled, recurring, paused.
function listings.counts(queue)
  local due = call('zcount', keys.scheduled(queue), '-inf', context.now)
  local lapsed = call('zcount', keys.locks(queue), '-inf', context.now)
  return {
    queue, call('zcard', keys.work(queue)) + due, call('zcard', keys.locks(queue)) - lapsed, lapsed,
    call('zcard', keys.scheduled(queue)) - due, call('zcard', keys.depends(queue)), call('zcard', keys.throttled(queue)),
    call('zcard', keys.recur(queue)), call('sismember', keys.paused(), queue),
  }
end

local function page_of(jobs, offset, count)
  local jids = {}
  for index = offset + 1, math.min(#jobs, offset + count) do jids[#jids + 1] = jobs[index].jid end
  return jids
end

-- The line with what has come due in it, as pop would see it.
local function waiting(queue, offset, count)
  local due = ordered.between(keys.scheduled(queue), '-inf', context.now, STEP)
  if #due == 0 then return ordered.line(keys.work(queue), offset, count) end
  local jobs = {}
  for _, jid in ipairs(ordered.line(keys.work(queue), 0, offset + count)) do jobs[#jobs + 1] = records.find(jid) end
  for _, jid in ipairs(due) do
    local job = records.find(jid)
    if job then
      job.ready = job.due
      jobs[#jobs + 1] = job
    end
  end
  return page_of(ordered.sort_line(jobs), offset, count)
end

local function depends_on_failed(jid)
  for _, on in ipairs(call('smembers', keys.dependencies(jid))) do
    if call('hget', keys.job(on), 'state') == 'failed' then return true end
  end
  return false
end

local function blocked(queue, offset, count)
  local jobs = {}
  for _, jid in ipairs(ordered.by_time(keys.depends(queue), 0, STEP)) do
    if depends_on_failed(jid) then jobs[#jobs + 1] = { jid = jid } end
  end
  return page_of(jobs, offset, count)
end

-- A page of a set from the first score that is not lapsed, or not due, on.
local function later(key, offset, count)
  return ordered.by_time(key, call('zcount', key, '-inf', context.now) + offset, count)
end

local function earlier(key, offset, count)
  local lapsed = call('zcount', key, '-inf', context.now)
  return ordered.by_time(key, offset, math.max(0, math.min(count, lapsed - offset)))
end

local LISTINGS = {
  waiting = waiting,
  blocked = blocked,
  running = function(queue, offset, count) return later(keys.locks(queue), offset, count) end,
  stalled = function(queue, offset, count) return earlier(keys.locks(queue), offset, count) end,
  scheduled = function(queue, offset, count) return later(keys.scheduled(queue), offset, count) end,
  depends = function(queue, offset, count) return ordered.by_time(keys.depends(queue), offset, count) end,
  throttled = function(queue, offset, count) return ordered.by_time(keys.throttled(queue), offset, count) end,
  recurring = function(queue, offset, count) return call('zrange', keys.recur(queue), offset, offset + count - 1) end,
  complete = function(_, offset, count) return ordered.newest(keys.completed(), offset, count) end,
}

-- A page of a listing.
function listings.page(state, queue, offset, count)
  if count == 0 then return {} end
  return LISTINGS[state](queue, offset, count)
end

return listings
