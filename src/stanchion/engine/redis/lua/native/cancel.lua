-- Remove jobs with every trace, all or none.

local call = use('call')
local dependents = use('queue/dependents')
local ending = use('queue/ending')
local keys = use('keys')
local records = use('queue/records')
local replies = use('replies')

-- The jobs asked for that exist, and those whose policy is to go with one of them.
local function all_that_go(jids)
  local going, order = {}, {}
  local function add(job)
    if job and not going[job.jid] then
      going[job.jid] = job
      order[#order + 1] = job
    end
  end
  for _, jid in ipairs(jids) do add(records.find(jid)) end
  return going, order, add
end

-- Look at those who wait for a job that goes: the patient ones must go too, and others may.
local function follow(job, going, add)
  if not job.awaited or job.state == 'complete' then return end
  local waiting = call('smembers', keys.dependents(job.jid))
  table.sort(waiting)
  for _, jid in ipairs(waiting) do
    local dependent = not going[jid] and records.find(jid)
    if dependent and dependent.state == 'depends' then
      if dependent.policy == 'wait' then replies.refuse('has-dependents', 'jid', job.jid, 'dependent', jid) end
      if dependent.policy == 'cancel' then add(dependent) end
    end
  end
end

return function(args)
  local going, order, add = all_that_go(args:names())
  local at = 1
  while order[at] do
    follow(order[at], going, add)
    at = at + 1
  end
  local jids, concerned = {}, {}
  for _, job in ipairs(order) do dependents.finish(job) end
  for index, job in ipairs(order) do
    jids[index] = job.jid
    concerned[index] = ending.cancel(records.find(job.jid))
  end
  -- Who goes too is gone by now: what is left are those whose policy is to run, or to fail.
  for index, jid in ipairs(jids) do dependents.lost(jid, concerned[index]) end
  return jids
end
