-- The commands that old clients call: of each, the module and the function that do it, and its name in errors; then whether it is of the newer
-- dialect, which has names with nouns and answers a little otherwise.

local context = use('context')
local given = use('script/given')
local replies = use('script/replies')
local styles = use('script/styles')

local COMMANDS = {
  ['put'] = 'putting put Put',
  ['requeue'] = 'putting requeue Requeue',
  ['pop'] = 'taking pop Pop',
  ['popByJid'] = 'taking pop_by_jid Pop',
  ['peek'] = 'taking peek Peek',
  ['complete'] = 'settling complete Complete',
  ['fail'] = 'settling fail Fail',
  ['retry'] = 'settling retry Retry',
  ['heartbeat'] = 'settling heartbeat Heartbeat',
  ['timeout'] = 'settling timeout Timeout',
  ['cancel'] = 'changing cancel Cancel',
  ['priority'] = 'changing priority Priority',
  ['depends'] = 'changing depends Depends',
  ['tag'] = 'tagging tag Tag',
  ['tags'] = 'tagging scan Tag',
  ['track'] = 'tracking track Track',
  ['tracked'] = 'tracking tracked Track',
  ['log'] = 'changing log Log',
  ['get'] = 'looking get Job',
  ['multiget'] = 'looking multiget Job',
  ['queues'] = 'looking queues Queues',
  ['length'] = 'looking length Length',
  ['jobs'] = 'looking jobs Jobs',
  ['failed'] = 'looking failed Failed',
  ['unfail'] = 'settling unfail Unfail',
  ['pause'] = 'queues pause Pause',
  ['unpause'] = 'queues unpause Unpause',
  ['queue.forget'] = 'queues forget Forget',
  ['stats'] = 'looking stats Stats',
  ['workers'] = 'workers workers Workers',
  ['worker.deregister'] = 'workers deregister Workers',
  ['workerJobs'] = 'workers held Workers',
  ['workersCount'] = 'workers count Workers',
  ['recur'] = 'recurring recur Recur',
  ['unrecur'] = 'recurring unrecur Recurring',
  ['recur.get'] = 'recurring get Recurring',
  ['recur.update'] = 'recurring update Recur',
  ['recur.tag'] = 'recurring tag Tag',
  ['recur.untag'] = 'recurring untag Untag',
  ['config.get'] = 'options get config.get',
  ['config.set'] = 'options set config.set',
  ['config.unset'] = 'options unset config.unset',
  ['throttle.set'] = 'throttles set Throttle new',
  ['throttle.get'] = 'throttles get Throttle new',
  ['throttle.delete'] = 'throttles delete Throttle new',
  ['throttle.locks'] = 'throttles locks Throttle new',
  ['throttle.pending'] = 'throttles pending Throttle new',
  ['throttle.ttl'] = 'throttles ttl Throttle new',
  ['throttle.release'] = 'throttles release Throttle new',
  ['queue.throttle.get'] = 'throttles get_own Throttle new',
  ['queue.throttle.set'] = 'throttles set_own Throttle new',
  ['subscription'] = 'topics subscription Subscription',

  ['config.getAll'] = 'options all config.get new',
  ['failureGroups.counts'] = 'looking failures Failed new',
  ['job.addDependency'] = 'changing depend Depends new',
  ['job.addTag'] = 'tagging add Tag new',
  ['job.cancel'] = 'changing cancel Cancel new',
  ['job.complete'] = 'settling complete Complete new',
  ['job.completeAndRequeue'] = 'settling complete_and_requeue Complete new',
  ['job.fail'] = 'settling fail Fail new',
  ['job.get'] = 'looking get Job new',
  ['job.getMulti'] = 'looking multiget Job new',
  ['job.heartbeat'] = 'settling heartbeat Heartbeat new',
  ['job.log'] = 'changing log Log new',
  ['job.removeDependency'] = 'changing undepend Depends new',
  ['job.removeTag'] = 'tagging remove Untag new',
  ['job.requeue'] = 'putting requeue Requeue new',
  ['job.retry'] = 'settling retry Retry new',
  ['job.setPriority'] = 'changing priority Priority new',
  ['job.timeout'] = 'settling timeout Timeout new',
  ['job.track'] = 'tracking add Track new',
  ['job.untrack'] = 'tracking remove Track new',
  ['jobs.completed'] = 'looking completed Jobs new',
  ['jobs.failedByGroup'] = 'looking failed_of Failed new',
  ['jobs.tagged'] = 'tagging tagged Tag new',
  ['jobs.tracked'] = 'tracking all Track new',
  ['queue.counts'] = 'looking counts Queues new',
  ['queue.jobsByState'] = 'looking jobs Jobs new',
  ['queue.length'] = 'looking length Length new',
  ['queue.pause'] = 'queues pause Pause new',
  ['queue.peek'] = 'taking peek_page Peek new',
  ['queue.pop'] = 'taking pop Pop new',
  ['queue.put'] = 'putting put Put new',
  ['queue.recurAtInterval'] = 'recurring recur_at_interval Recur new',
  ['queue.stats'] = 'looking stats Stats new',
  ['queue.unfail'] = 'settling unfail_some Unfail new',
  ['queue.unpause'] = 'queues unpause Unpause new',
  ['queueIdentifierPatterns.getAll'] = 'patterns identifiers Patterns new',
  ['queueIdentifierPatterns.setAll'] = 'patterns set_identifiers Patterns new',
  ['queuePriorityPatterns.getAll'] = 'patterns priorities Patterns new',
  ['queuePriorityPatterns.setAll'] = 'patterns set_priorities Patterns new',
  ['queues.counts'] = 'looking all_counts Queues new',
  ['queues.names'] = 'queues names Queues new',
  ['recurringJob.addTag'] = 'recurring tag Tag new',
  ['recurringJob.cancel'] = 'recurring unrecur Recurring new',
  ['recurringJob.get'] = 'recurring get Recurring new',
  ['recurringJob.removeTag'] = 'recurring untag Untag new',
  ['recurringJob.update'] = 'recurring update Recur new',
  ['tags.top'] = 'tagging top Tag new',
  ['worker.forget'] = 'workers deregister Workers new',
  ['worker.jobs'] = 'workers jobs Workers new',
  ['workers.counts'] = 'workers all Workers new',
}

local dispatch = {}

-- The command of a name.
function dispatch.find(name)
  local words = name and COMMANDS[name]
  if not words then error({ refused = 'ERR user_script:0: Unknown command ' .. tostring(name) }) end
  local module, verb, area, new = string.match(words, '^(%S+) (%S+) (%S+)%s?(%S*)$')
  return { module = module, verb = verb, area = area, style = new == '' and styles.old or styles.new }
end

-- Run it; a refusal of the queue is put into the words that old clients know.
function dispatch.run(command, arguments)
  local run = use('script/' .. command.module)[command.verb]
  context.put_names_queue, context.out_of_retries = command.style.put, command.style.out_of_retries
  local ok, reply = pcall(run, arguments, command.style)
  if ok then return reply end
  if type(reply) == 'table' and reply.code then given.refuse(replies.message(command, reply)) end
  error(reply)
end

return dispatch
