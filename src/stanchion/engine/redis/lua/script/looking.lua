-- What old clients ask about jobs and queues.

local completed_in = use('script/completed_in')
local json = use('script/json')
local native_counts = use('native/counts')
local native_failed = use('native/failed')
local native_failures = use('native/failures')
local native_get = use('native/get')
local native_jobs = use('native/jobs')
local native_length = use('native/length')
local native_multiget = use('native/multiget')
local native_queues = use('native/queues')
local native_stats = use('native/stats')
local run = use('script/run')
local show = use('script/show')
local statistics = use('script/statistics')

local STATES = {
  running = true, stalled = true, scheduled = true, depends = true, recurring = true, throttled = true, waiting = true,
}

local looking = {}

function looking.get(given, style)
  local job = run(native_get, given:need('jid'))
  return job and show.job(job, style)
end

function looking.multiget(given, style) return show.jobs(run(native_multiget, given:rest()), style) end

local function counts_of(counts, style)
  local name, waiting, running, stalled, scheduled, depends, throttled, recurring, paused = unpack(counts)
  local shown = {
    'name', json.quote(name), 'waiting', json.number(waiting), 'stalled', json.number(stalled), 'running', json.number(running),
    'scheduled', json.number(scheduled), 'depends', json.number(depends), 'recurring', json.number(recurring),
    'paused', json.flag(paused),
  }
  if style.shows_all or throttled > 0 then
    shown[#shown + 1] = 'throttled'
    shown[#shown + 1] = json.number(throttled)
  end
  return json.map(shown)
end

function looking.counts(given, style) return counts_of(run(native_counts, given:need('queue')), style) end

function looking.all_counts(_, style)
  local shown = {}
  for index, counts in ipairs(run(native_queues)) do shown[index] = counts_of(counts, style) end
  return json.list(shown, style)
end

function looking.queues(given, style)
  if given:count() == 0 then return looking.all_counts(given, style) end
  return looking.counts(given, style)
end

function looking.length(given) return run(native_length, given:need('queue')) end

function looking.completed(given, style)
  return json.names(run(native_jobs, 'complete', '', given:page()), style)
end

-- Complete jobs: of all queues, or, with three arguments, of one.
local function complete(given)
  local queue = given:count() >= 3 and given:text() or ''
  if queue == '' then return run(native_jobs, 'complete', '', given:page()) end
  return completed_in(queue, given:page())
end

local function in_state(given, state)
  if state == 'complete' then return complete(given) end
  local queue = given:need('queue')
  if not STATES[state] then given:refuse('Unknown type "' .. state .. '"') end
  return run(native_jobs, state, queue, given:page())
end

function looking.jobs(given, style)
  local jids = in_state(given, given:need('state'))
  return style.shows_all and json.names(jids, style) or jids
end

-- How many jobs are failed in each group.
function looking.failures()
  local flat = run(native_failures)
  for index = 2, #flat, 2 do flat[index] = json.number(flat[index]) end
  return json.map(flat)
end

function looking.failed_of(given, style)
  local group = given:need('group')
  local found = run(native_failed, group, given:page())
  return json.object('total', json.number(found[1]), 'jobs', json.names(found[2], style))
end

function looking.failed(given, style)
  if given:count() == 0 then return looking.failures() end
  return looking.failed_of(given, style)
end

function looking.stats(given)
  local queue = given:need('queue')
  return statistics.show(run(native_stats, queue, given:number('date')))
end

return looking
