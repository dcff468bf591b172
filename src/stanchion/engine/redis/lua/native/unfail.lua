-- Put failed jobs of a group back to wait in a queue, the longest-failed first.

local call = use('call')
local context = use('context')
local events = use('queue/events')
local keys = use('keys')
local line = use('queue/line')
local putting = use('queue/putting')
local records = use('queue/records')

local MANY = 50

local function failed_of(group, count)
  local jids = {}
  if count == 0 then return jids end
  local newest_first = call('lrange', keys.failed(group), -count, -1)
  for index = #newest_first, 1, -1 do jids[#jids + 1] = newest_first[index] end
  return jids
end

return function(args)
  local queue, group, count = args:text(), args:text(), args:number() or 25
  local moved = 0
  for _, jid in ipairs(failed_of(group, count)) do
    local job = records.find(jid)
    if not job or job.state ~= 'failed' then
      call('lrem', keys.failed(group), -1, jid)
    else
      line.leave(job)
      local where = line.place(0, false, job.throttles, context.now)
      putting.line_up_again(job, queue, where, count > MANY and moved or 0)
      if not context.old_call then
        events.log('put', 'jid', jid, 'queue', queue)
        events.tell_trackers(jid, 'put')
      end
      moved = moved + 1
    end
  end
  if moved > 0 then line.know_queue(queue) end
  return moved
end
