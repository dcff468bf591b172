-- A job's history: what happened to it, as entries of JSON text that are only ever appended.
--
-- A job that was put, and nothing more, has no list yet: its time and queue tell the one entry. So most of what waits needs one key less.

local call = use('call')
local config = use('config')
local context = use('context')
local keys = use('keys')
local retention = use('rules/retention')
local texts = use('texts')

local history = {}

-- The entry of a put at another time than this call's.
function history.put_entry_at(time, queue)
  if context.old_call then time = string.format('%.0f', math.floor(tonumber(time))) end
  return '[' .. time .. ',"put",' .. texts.object(context.put_names_queue, texts.quote(queue)) .. ']'
end

-- One entry as text: what happened, and more as a JSON object.
function history.entry(what, more) return '[' .. context.when() .. ',"' .. what .. '",' .. (more or '{}') .. ']' end

-- An entry whose name is somebody's text.
function history.log_entry(message, more)
  return '[' .. context.when() .. ',' .. texts.quote(message) .. ',' .. more .. ']'
end

-- The entry of a put that no list tells.
local function told_by(time, queue) return '[' .. time .. ',"put",{"q":' .. texts.quote(queue) .. '}]' end

-- The entries of a job, and whether the list still has to be told the first.
function history.of(job)
  local entries, hash = call('lrange', keys.history(job.jid), 0, -1), job.hash
  if #entries > 0 or not tonumber(hash.time) then return entries, false end
  return { told_by(hash.time, hash.queue or '') }, true
end

-- Drop the oldest entries behind the first, beyond the limit.
local function trim(key, length, limit)
  if length <= limit then return end
  local excess = retention.history_excess(length, limit)
  if excess == 0 then return end
  local first = call('lindex', key, 0)
  call('ltrim', key, excess + 1, -1)
  call('lpush', key, first)
end

-- Add an entry to a job's history; the entries that it has then.
function history.extend(job, limit, entry)
  local key = keys.history(job.jid)
  local entries, untold = history.of(job)
  if untold then
    call('rpush', key, entries[1], entry)
  else
    call('rpush', key, entry)
  end
  entries[#entries + 1] = entry
  if #entries > limit then
    trim(key, #entries, limit)
    for _ = 1, retention.history_excess(#entries, limit) do table.remove(entries, 2) end
  end
  return entries
end

-- Add entries to a job's history. Its queue must still be the one that it was put into, if nothing else has happened to it.
function history.append(jid, limit, ...)
  local key = keys.history(jid)
  local length = call('rpushx', key, ...)
  if length == 0 then
    local put = call('hmget', keys.job(jid), 'time', 'queue')
    if tonumber(put[1]) then call('rpush', key, told_by(put[1], put[2] or '')) end
    length = call('rpush', key, ...)
  end
  trim(key, length, limit or config.number('max-job-history'))
end

return history
