-- A queue's day as old clients see it.

local json = use('script/json')

local BUCKETS = { { 's', 0, 59 }, { 'm', 1, 59 }, { 'h', 1, 23 }, { 'd', 1, 6 } }

local statistics = {}

local function fields_of(flat)
  local hash = {}
  for index = 1, #flat, 2 do hash[flat[index]] = flat[index + 1] end
  return hash
end

local function histogram(hash, is_kept)
  local counts = {}
  for _, bucket in ipairs(BUCKETS) do
    local unit, first, last = unpack(bucket)
    for number = first, last do counts[#counts + 1] = is_kept and json.number(hash[unit .. number]) or '0' end
  end
  return '[' .. table.concat(counts, ',') .. ']'
end

-- The standard deviation of a sample.
local function deviation(hash)
  local total = tonumber(hash.total) or 0
  if total < 2 then return 0 end
  return math.sqrt(math.max(0, tonumber(hash.vk) or 0) / (total - 1))
end

local function summary(flat, is_kept)
  local hash = fields_of(flat)
  return json.object(
    'count', json.number(hash.total), 'mean', json.number(hash.mean), 'std', json.number(deviation(hash)),
    'histogram', histogram(hash, is_kept)
  )
end

function statistics.show(day)
  local counters, is_kept = fields_of(day[3]), day[4] == 1
  return json.object(
    'retries', json.number(counters.retries), 'failed', json.number(counters.failed),
    'failures', json.number(counters.failures), 'wait', summary(day[1], is_kept), 'run', summary(day[2], is_kept)
  )
end

return statistics
