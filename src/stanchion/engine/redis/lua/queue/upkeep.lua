-- Housekeeping inside the commands: each piece is bounded, and what is left goes with the next command.
--
-- Most calls find nothing to do, and need not even look (queue/quiet).

local call = use('call')
local config = use('config')
local context = use('context')
local days = use('rules/days')
local dependents = use('queue/dependents')
local ending = use('queue/ending')
local keys = use('keys')
local ordered = use('queue/ordered')
local quiet = use('queue/quiet')
local records = use('queue/records')
local statistics = use('queue/statistics')
local throttles = use('queue/throttles')
local workers = use('queue/workers')

local STEP = 500
local FORGOTTEN = 100 -- complete jobs that a pop forgets, and each completion: more than it adds, so that any backlog melts

local upkeep = {}
local function first_score(key)
  return tonumber(call('zrange', key, 0, 0, 'withscores')[2])
end

local function sweep_workers()
  local oldest = workers.oldest_seen()
  for _, name in ipairs(call('zrangebyscore', keys.workers(), '-inf', '(' .. oldest, 'limit', 0, STEP)) do
    call('zrem', keys.workers(), name)
  end
  local first = first_score(keys.workers())
  return first and first + context.now - oldest or math.huge
end

local function sweep_statistics()
  local summaries, histograms = config.numbers('stats-history', 'histogram-history')
  local summary, histogram = days.oldest_kept(context.now, summaries), days.oldest_kept(context.now, histograms)
  statistics.sweep(summary, histogram, STEP)
  return days.day_of(context.now) + 86400
end

local function sweep_limits()
  local due = call('zrangebyscore', keys.expiring(), '-inf', context.now, 'limit', 0, STEP)
  for _, throttle in ipairs(due) do throttles.remove(throttle) end
  return first_score(keys.expiring()) or math.huge
end

-- Tracked jids whose jobs are long gone.
local function sweep_tracked(history)
  local before = context.now - history
  local old = call('zrangebyscore', keys.tracked(), '-inf', '(' .. before, 'limit', 0, STEP)
  for _, jid in ipairs(old) do
    if call('exists', keys.job(jid)) == 0 then call('zrem', keys.tracked(), jid) end
  end
  local first = first_score(keys.tracked())
  return first and first + history or math.huge
end

-- Forget at most so many complete jobs of before a time, the oldest first.
local function forget(before, most)
  if most <= 0 then return end
  for _, jid in ipairs(ordered.between(keys.completed(), '-inf', before, most)) do
    local job = records.find(jid) or records.of(jid, {})
    if not job.awaited or call('scard', keys.dependents(jid)) == 0 then ending.forget(job) end
  end
end

-- Retention: by count, then by age. When the next job gets too old.
local function forget_complete(history, count, most)
  forget('+inf', math.min(most, call('zcard', keys.completed()) - math.max(0, count)))
  forget('(' .. context.now - history, most)
  if call('zcard', keys.completed()) > math.max(0, count) then return context.now end
  local first = first_score(keys.completed())
  return first and first + history or math.huge
end

local function do_duties(most)
  if call('exists', keys.releases()) == 1 then dependents.go_on() end
  local history, count = config.numbers('jobs-history', 'jobs-history-count')
  local due = math.min(
    sweep_limits(), sweep_workers(), sweep_statistics(), sweep_tracked(history),
    forget_complete(history, count, most)
  )
  if call('exists', keys.releases()) == 1 then due = context.now end
  return due
end

-- Jobs have completed just now: when they will be too old, and whether they are too many, may come before anything else.
function upkeep.expect_forgetting(history, count)
  if call('zcard', keys.completed()) > math.max(0, count) then return quiet.disturb() end
  quiet.at_most(context.now + history)
end

-- Do a step of whatever is due, after so many completions.
function upkeep.keep_up(completions)
  if quiet.is() then return end
  quiet.till(do_duties(FORGOTTEN * math.max(1, completions)))
end

return upkeep
