-- The commands that old clients call: of each, the function that does it, and its name in errors. The newer dialect has names with nouns, and
-- answers a little otherwise.

local changing = use('script/changing')
local context = use('context')
local given = use('script/given')
local looking = use('script/looking')
local options = use('script/options')
local patterns = use('script/patterns')
local putting = use('script/putting')
local queues = use('script/queues')
local recurring = use('script/recurring')
local replies = use('script/replies')
local settling = use('script/settling')
local styles = use('script/styles')
local tagging = use('script/tagging')
local taking = use('script/taking')
local throttles = use('script/throttles')
local topics = use('script/topics')
local tracking = use('script/tracking')
local workers = use('script/workers')

-- Comparisons, since a table would be built again at each call.

-- The names of the older dialect, and those that one client has added.
local function of_older(name)
  if name == 'put' then return putting.put, 'Put' end
  if name == 'requeue' then return putting.requeue, 'Requeue' end
  if name == 'pop' then return taking.pop, 'Pop' end
  if name == 'popByJid' then return taking.pop_by_jid, 'Pop' end
  if name == 'peek' then return taking.peek, 'Peek' end
  if name == 'complete' then return settling.complete, 'Complete' end
  if name == 'fail' then return settling.fail, 'Fail' end
  if name == 'retry' then return settling.retry, 'Retry' end
  if name == 'heartbeat' then return settling.heartbeat, 'Heartbeat' end
  if name == 'timeout' then return settling.timeout, 'Timeout' end
  if name == 'cancel' then return changing.cancel, 'Cancel' end
  if name == 'priority' then return changing.priority, 'Priority' end
  if name == 'depends' then return changing.depends, 'Depends' end
  if name == 'tag' then return tagging.tag, 'Tag' end
  if name == 'tags' then return tagging.scan, 'Tag' end
  if name == 'track' then return tracking.track, 'Track' end
  if name == 'tracked' then return tracking.tracked, 'Track' end
  if name == 'log' then return changing.log, 'Log' end
  if name == 'get' then return looking.get, 'Job' end
  if name == 'multiget' then return looking.multiget, 'Job' end
  if name == 'queues' then return looking.queues, 'Queues' end
  if name == 'length' then return looking.length, 'Length' end
  if name == 'jobs' then return looking.jobs, 'Jobs' end
  if name == 'failed' then return looking.failed, 'Failed' end
  if name == 'unfail' then return settling.unfail, 'Unfail' end
  if name == 'pause' then return queues.pause, 'Pause' end
  if name == 'unpause' then return queues.unpause, 'Unpause' end
  if name == 'queue.forget' then return queues.forget, 'Forget' end
  if name == 'stats' then return looking.stats, 'Stats' end
  if name == 'workers' then return workers.workers, 'Workers' end
  if name == 'worker.deregister' then return workers.deregister, 'Workers' end
  if name == 'workerJobs' then return workers.held, 'Workers' end
  if name == 'workersCount' then return workers.count, 'Workers' end
  if name == 'recur' then return recurring.recur, 'Recur' end
  if name == 'unrecur' then return recurring.unrecur, 'Recurring' end
  if name == 'recur.get' then return recurring.get, 'Recurring' end
  if name == 'recur.update' then return recurring.update, 'Recur' end
  if name == 'recur.tag' then return recurring.tag, 'Tag' end
  if name == 'recur.untag' then return recurring.untag, 'Untag' end
  if name == 'config.get' then return options.get, 'config.get' end
  if name == 'config.set' then return options.set, 'config.set' end
  if name == 'config.unset' then return options.unset, 'config.unset' end
  if name == 'subscription' then return topics.subscription, 'Subscription' end
end

-- The names of the newer dialect.
local function of_newer(name)
  if name == 'throttle.set' then return throttles.set, 'Throttle' end
  if name == 'throttle.get' then return throttles.get, 'Throttle' end
  if name == 'throttle.delete' then return throttles.delete, 'Throttle' end
  if name == 'throttle.locks' then return throttles.locks, 'Throttle' end
  if name == 'throttle.pending' then return throttles.pending, 'Throttle' end
  if name == 'throttle.ttl' then return throttles.ttl, 'Throttle' end
  if name == 'throttle.release' then return throttles.release, 'Throttle' end
  if name == 'queue.throttle.get' then return throttles.get_own, 'Throttle' end
  if name == 'queue.throttle.set' then return throttles.set_own, 'Throttle' end
  if name == 'config.getAll' then return options.all, 'config.get' end
  if name == 'failureGroups.counts' then return looking.failures, 'Failed' end
  if name == 'job.addDependency' then return changing.depend, 'Depends' end
  if name == 'job.addTag' then return tagging.add, 'Tag' end
  if name == 'job.cancel' then return changing.cancel, 'Cancel' end
  if name == 'job.complete' then return settling.complete, 'Complete' end
  if name == 'job.completeAndRequeue' then return settling.complete_and_requeue, 'Complete' end
  if name == 'job.fail' then return settling.fail, 'Fail' end
  if name == 'job.get' then return looking.get, 'Job' end
  if name == 'job.getMulti' then return looking.multiget, 'Job' end
  if name == 'job.heartbeat' then return settling.heartbeat, 'Heartbeat' end
  if name == 'job.log' then return changing.log, 'Log' end
  if name == 'job.removeDependency' then return changing.undepend, 'Depends' end
  if name == 'job.removeTag' then return tagging.remove, 'Untag' end
  if name == 'job.requeue' then return putting.requeue, 'Requeue' end
  if name == 'job.retry' then return settling.retry, 'Retry' end
  if name == 'job.setPriority' then return changing.priority, 'Priority' end
  if name == 'job.timeout' then return settling.timeout, 'Timeout' end
  if name == 'job.track' then return tracking.add, 'Track' end
  if name == 'job.untrack' then return tracking.remove, 'Track' end
  if name == 'jobs.completed' then return looking.completed, 'Jobs' end
  if name == 'jobs.failedByGroup' then return looking.failed_of, 'Failed' end
  if name == 'jobs.tagged' then return tagging.tagged, 'Tag' end
  if name == 'jobs.tracked' then return tracking.all, 'Track' end
  if name == 'queue.counts' then return looking.counts, 'Queues' end
  if name == 'queue.jobsByState' then return looking.jobs, 'Jobs' end
  if name == 'queue.length' then return looking.length, 'Length' end
  if name == 'queue.pause' then return queues.pause, 'Pause' end
  if name == 'queue.peek' then return taking.peek_page, 'Peek' end
  if name == 'queue.pop' then return taking.pop, 'Pop' end
  if name == 'queue.put' then return putting.put, 'Put' end
  if name == 'queue.recurAtInterval' then return recurring.recur_at_interval, 'Recur' end
  if name == 'queue.stats' then return looking.stats, 'Stats' end
  if name == 'queue.unfail' then return settling.unfail_some, 'Unfail' end
  if name == 'queue.unpause' then return queues.unpause, 'Unpause' end
  if name == 'queueIdentifierPatterns.getAll' then return patterns.identifiers, 'Patterns' end
  if name == 'queueIdentifierPatterns.setAll' then return patterns.set_identifiers, 'Patterns' end
  if name == 'queuePriorityPatterns.getAll' then return patterns.priorities, 'Patterns' end
  if name == 'queuePriorityPatterns.setAll' then return patterns.set_priorities, 'Patterns' end
  if name == 'queues.counts' then return looking.all_counts, 'Queues' end
  if name == 'queues.names' then return queues.names, 'Queues' end
  if name == 'recurringJob.addTag' then return recurring.tag, 'Tag' end
  if name == 'recurringJob.cancel' then return recurring.unrecur, 'Recurring' end
  if name == 'recurringJob.get' then return recurring.get, 'Recurring' end
  if name == 'recurringJob.removeTag' then return recurring.untag, 'Untag' end
  if name == 'recurringJob.update' then return recurring.update, 'Recur' end
  if name == 'tags.top' then return tagging.top, 'Tag' end
  if name == 'worker.forget' then return workers.deregister, 'Workers' end
  if name == 'worker.jobs' then return workers.jobs, 'Workers' end
  if name == 'workers.counts' then return workers.all, 'Workers' end
end

local dispatch = {}

-- The command of a name.
function dispatch.find(name)
  local style = styles.old
  local run, area = of_older(name)
  if not run then
    style = styles.new
    run, area = of_newer(name)
  end
  if not run then error({ refused = 'ERR user_script:0: Unknown command ' .. tostring(name) }) end
  return { run = run, area = area, style = style }
end

-- Run it; a refusal of the queue is put into the words that old clients know.
function dispatch.run(command, arguments)
  context.put_names_queue, context.out_of_retries = command.style.put, command.style.out_of_retries
  local ok, reply = pcall(command.run, arguments, command.style)
  if ok then return reply end
  if type(reply) == 'table' and reply.code then given.refuse(replies.message(command, reply)) end
  error(reply)
end

return dispatch
