-- Change a job's priority; it keeps its place in time among its new equals.

local call = use('call')
local keys = use('keys')
local line = use('queue/line')
local records = use('queue/records')
local texts = use('texts')
local throttles = use('queue/throttles')

return function(args)
  local job, priority = records.require(args:text()), args:number()
  call('hset', keys.job(job.jid), 'priority', priority)
  job.priority = priority
  local score = line.score(priority, job.ready)
  if job.state == 'waiting' then call('zadd', keys.work(job.queue), score, job.jid) end
  if job.throttled and (job.state == 'waiting' or job.state == 'throttled') then
    throttles.rescore(job, score)
    throttles.let_all_in(job.throttles)
  end
  return texts.number(priority)
end
