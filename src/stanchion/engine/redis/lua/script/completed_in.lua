-- The complete jobs of one queue, which only their histories tell: as far back as a call can look.

local call = use('call')
local keys = use('keys')

local MOST, STEP = 10000, 500

-- The queue that a job was put into last.
local function last_queue(jid)
  local entries = call('lrange', keys.history(jid), 0, -1)
  for index = #entries, 1, -1 do
    local queue = string.match(entries[index], '"put",{"q":"(.-)"}') or string.match(entries[index], '"put",{"queue":"(.-)"}')
    if queue then return queue end
  end
end

-- A page of their jids, the newest first.
return function(queue, offset, count)
  local found, seen = {}, 0
  for start = 0, MOST - 1, STEP do
    local jids = call('zrevrange', keys.completed(), start, start + STEP - 1)
    for _, jid in ipairs(jids) do
      if last_queue(jid) == queue then
        seen = seen + 1
        if seen > offset then found[#found + 1] = jid end
        if #found == count then return found end
      end
    end
    if #jids < STEP then break end
  end
  return found
end
