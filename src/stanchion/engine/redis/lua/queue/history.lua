-- A job's history: what happened to it, as entries of JSON text that are only ever appended.

local call = use('call')
local config = use('config')
local context = use('context')
local keys = use('keys')
local retention = use('rules/retention')
local texts = use('texts')

local history = {}

-- One entry as text: what happened, and more as a JSON object.
function history.entry(what, more, when)
  return '[' .. texts.number(when or context.now) .. ',' .. texts.quote(what) .. ',' .. (more or '{}') .. ']'
end

-- Add entries, and drop the oldest behind the first beyond max-job-history.
function history.append(jid, ...)
  local key = keys.history(jid)
  local length = call('rpush', key, ...)
  if length <= 3 then return end -- spares most jobs the look at the limit
  local excess = retention.history_excess(length, config.number('max-job-history'))
  if excess > 0 then
    local first = call('lindex', key, 0)
    call('ltrim', key, excess + 1, -1)
    call('lpush', key, first)
  end
end

return history
