-- Who waits for whom: the sets of dependencies and of dependents, which are cut as jobs finish.

local call = use('call')
local circles = use('rules/circles')
local keys = use('keys')
local ordered = use('queue/ordered')
local records = use('queue/records')
local replies = use('replies')

local SHOWN = 10 -- how many jobs of a circle an error names

local links = {}

-- The jids that a job waits for.
function links.of(jid) return call('smembers', keys.dependencies(jid)) end

-- Those of the jobs that one with this policy has to wait for: they exist and are not complete (nor failed, for run). Each with its state.
-- The states of jobs that the same command puts before are given.
function links.unfinished(jids, policy, planned)
  local found = {}
  for _, jid in ipairs(jids) do
    local state = planned and planned[jid] or (records.find(jid) or {}).state
    if state and state ~= 'complete' and not (policy == 'run' and state == 'failed') then
      found[#found + 1] = { jid = jid, state = state }
    end
  end
  return found
end

-- Refuse that the job waits for others if any of them waits for it already. Dependencies that the same command gives before are in planned.
function links.refuse_circle(jid, on, planned)
  local circle = circles.find_circle(jid, function(other)
    if other ~= jid then return planned and planned[other] or links.of(other) end
    local jids = {}
    for index, one in ipairs(on) do jids[index] = one.jid end
    return jids
  end)
  if not circle then return end
  local shown = {}
  for index, one in ipairs(circle) do
    if #circle <= SHOWN or index <= SHOWN - 2 then shown[#shown + 1] = one end
  end
  if #circle > SHOWN then
    shown[#shown + 1] = '…'
    shown[#shown + 1] = circle[#circle]
  end
  replies.refuse('dependency-circle', 'jid', jid, 'circle', table.concat(shown, ' → '))
end

-- Let a job with this policy wait for others.
function links.tie(jid, policy, on)
  for _, other in ipairs(on) do
    call('sadd', keys.dependencies(jid), other.jid)
    call('sadd', keys.dependents(other.jid), jid)
    call('hset', keys.job(other.jid), 'x-awaited', 1)
    if policy ~= 'wait' then call('sadd', keys.concerned(other.jid), jid) end
  end
end

-- Let a job no longer wait for another.
function links.cut(jid, on)
  call('srem', keys.dependencies(jid), on)
  call('srem', keys.dependents(on), jid)
  call('srem', keys.concerned(on), jid)
end

-- Let a job wait for nothing.
function links.cut_all(job)
  for _, on in ipairs(links.of(job.jid)) do
    call('srem', keys.dependents(on), job.jid)
    call('srem', keys.concerned(on), job.jid)
  end
  call('del', keys.dependencies(job.jid))
end

-- Those who wait for a job and for whom it means something that it failed or is gone, at most so many, in the order of their puts.
function links.concerned(jid, most)
  local key = keys.concerned(jid)
  return ordered.in_order_of_puts(most and call('srandmember', key, most) or call('smembers', key))
end

-- Does somebody wait for the job who goes on waiting whatever becomes of it?
function links.has_patient(jid)
  return call('scard', keys.dependents(jid)) > call('scard', keys.concerned(jid))
end

return links
