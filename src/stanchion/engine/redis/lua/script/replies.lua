-- The queue's refusals in the words that old clients look for.

local HANDED_OVER = {
  Complete = 'has been handed out to another worker: ', Fail = 'running with another worker: ',
  Retry = 'has been given to another worker: ', Heartbeat = 'given out to another worker: ',
}

local WORDS = {
  ['job-not-found'] = function(_, job) return job .. 'does not exist' end,
  ['job-not-running'] = function(area, job, details)
    if area == 'Timeout' then return job .. 'not running: ' .. details.state end
    return job .. 'is not currently running: ' .. details.state
  end,
  ['lock-lost'] = function(area, job, details) return job .. (HANDED_OVER[area] or HANDED_OVER.Complete) .. details.holder end,
  ['wrong-queue'] = function(_, job, details) return job .. 'running in another queue: ' .. details.actual end,
  ['has-dependents'] = function(_, _, details)
    return details.jid .. ' is a dependency of ' .. details.dependent .. ' but is not mentioned to be canceled'
  end,
  ['job-not-depending'] = function(_, _, details)
    return 'Job ' .. details.jid .. ' not in the depends state: ' .. details.state
  end,
  ['recurring-job-not-found'] = function(area, job, details)
    if area == 'Recur' then return 'No recurring job ' .. details.jid end
    return job .. 'does not exist'
  end,
  ['dependency-circle'] = function(_, job, details) return job .. 'would wait for itself: ' .. details.circle end,
  ['bad-argument'] = function(_, _, details) return 'Arg "' .. details.argument .. '" ' .. details.problem end,
}

local replies = {}

-- The area and the message of a refusal.
function replies.message(command, refusal)
  local details = refusal.details
  local job = command.style.names_jobs and details.jid and 'Job ' .. details.jid .. ' ' or 'Job '
  return command.area, WORDS[refusal.code](command.area, job, details)
end

return replies
