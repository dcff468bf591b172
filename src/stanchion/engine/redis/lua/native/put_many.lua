-- Put several jobs as one change, in their order: all are put, or none.

local new_jobs = use('queue/new_jobs')
local putting = use('queue/putting')
local records = use('queue/records')
local replies = use('replies')

local MANY = 50 -- from so many on, their scores tell them apart

-- Check a put as if those before it were done.
local function check(command, planned)
  local jid = command.jid
  local old = records.find(jid) or planned.states[jid] and { state = planned.states[jid] }
  if old and command.if_absent then return end
  local job = putting.check(new_jobs.of(command, old), old, planned)
  planned.states[jid] = #job.on > 0 and 'depends' or 'waiting'
  planned.depends[jid] = {}
  for index, on in ipairs(job.on) do planned.depends[jid][index] = on.jid end
end

local function read_all(args)
  local commands, planned = {}, { states = {}, depends = {} }
  for index = 1, args:number() do
    commands[index] = new_jobs.read(args:part())
    replies.within('put_many', 'puts', index - 1, check, commands[index], planned)
  end
  return commands
end

return function(args)
  local commands, jids = read_all(args), {}
  for index, command in ipairs(commands) do
    jids[index] = command.jid
    local old = records.find(command.jid)
    if not (old and command.if_absent) then
      putting.put(putting.check(new_jobs.of(command, old), old), old, #commands > MANY and index - 1 or 0)
    end
  end
  return jids
end
