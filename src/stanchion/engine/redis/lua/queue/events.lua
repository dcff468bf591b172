-- What is published, and to whom: log for all, w:<worker> for one worker, bare jids for tracked jobs.

local call = use('call')
local context = use('context')
local keys = use('keys')
local texts = use('texts')

local events = {}

local function publish(channel, message) redis.call('publish', context.namespace .. channel, message) end

events.publish = publish

-- An event as JSON, with pairs of a key and a text.
local function message(event, ...)
  local parts = { '{"event":"' .. event .. '"' }
  for index = 1, select('#', ...), 2 do
    local key, value = select(index, ...)
    parts[#parts + 1] = ',"' .. key .. '":' .. texts.quote(value)
  end
  parts[#parts + 1] = '}'
  return table.concat(parts)
end

-- Publish an event to all.
function events.log(event, ...) publish('log', message(event, ...)) end

-- Publish an event to a worker, if the job has one.
function events.tell_worker(worker, event, ...)
  if worker ~= '' then publish('w:' .. worker, message(event, ...)) end
end

-- Publish the jid of a tracked job.
function events.tell_trackers(jid, channel)
  if call('zscore', keys.tracked(), jid) then publish(channel, jid) end
end

-- Tell a worker, and all, that it lost the job's lock.
function events.lock_lost(job)
  events.tell_worker(job.worker, 'lock_lost', 'jid', job.jid, 'worker', job.worker)
  events.log('lock_lost', 'jid', job.jid, 'worker', job.worker)
end

return events
