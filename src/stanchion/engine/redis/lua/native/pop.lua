-- Give up to count jobs of a queue to a worker, each under a lock that lapses unless it is renewed.

local call = use('call')
local config = use('config')
local keys = use('keys')
local records = use('queue/records')
local taking = use('queue/taking')
local throttles = use('queue/throttles')
local upkeep = use('queue/upkeep')
local wake = use('queue/wake')
local workers = use('queue/workers')

local pop = {}

function pop.run(args)
  local queue, worker, count = args:text(), args:text(), args:number() or 1
  workers.see(worker)
  upkeep.keep_up(0)
  if call('sismember', keys.paused(), queue) == 1 then return {} end
  local heartbeat, limit, history_limit = config.of_queue(queue)
  local jobs = taking.take(queue, count, throttles.limit_of_queue(queue, limit), heartbeat)
  if #jobs < count then wake.clear(queue) end
  if #jobs > 0 then wake.pass_alarm(queue) end
  return taking.hand_out(jobs, queue, worker, heartbeat, history_limit)
end

-- Only the jids of an answer are kept: the jobs are read again for whoever did not hear it.
function pop.remember(jobs)
  local kept = {}
  for index, job in ipairs(jobs) do kept[index] = job[1] end
  return kept
end

function pop.recall(jids)
  local jobs = {}
  for _, jid in ipairs(jids) do
    local job = records.find_whole(jid)
    if job then jobs[#jobs + 1] = records.whole(job) end
  end
  return jobs
end

return pop
