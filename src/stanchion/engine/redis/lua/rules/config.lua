-- The options that the queue knows, as in stanchion/rules/config.py.

local config = {}

config.DEFAULTS = {
  ['heartbeat'] = 60,
  ['grace-period'] = 10,
  ['jobs-history'] = 604800,
  ['jobs-history-count'] = 50000,
  ['max-job-history'] = 100,
  ['max-worker-age'] = 86400,
  ['stats-history'] = 30,
  ['histogram-history'] = 7,
  ['max-pop-retry'] = 1,
}

local OF_QUEUES = { '-heartbeat', '-max-concurrency', '-max-pop-retry' }

-- Is the option's value a number?
function config.is_number(option)
  if config.DEFAULTS[option] then return true end
  for _, ending in ipairs(OF_QUEUES) do
    if #option > #ending and string.sub(option, -#ending) == ending then return true end
  end
  return false
end

return config
