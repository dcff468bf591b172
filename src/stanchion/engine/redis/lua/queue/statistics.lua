-- Statistics per queue and UTC day: how long jobs waited and ran, how many were retried and failed.

local call = use('call')
local config = use('config')
local context = use('context')
local days = use('rules/days')
local histogram = use('rules/histogram')
local keys = use('keys')
local moments = use('rules/moments')

local finite = use('texts').finite

local statistics = {}

local function name_of(day, queue) return string.format('%.0f', day) .. ':' .. queue end

local function know_day(day, name)
  call('zadd', keys.days(), day, name)
end

-- How many durations fall into each bucket, and the labels of those.
local function counted(durations)
  local counts, labels = {}, {}
  for index = 1, #durations do
    local label = histogram.bucket(durations[index])
    if not counts[label] then labels[#labels + 1] = label end
    counts[label] = (counts[label] or 0) + 1
  end
  return counts, labels
end

-- Count durations, in seconds, among today's of the queue. The kind is wait or run.
function statistics.record(kind, queue, durations)
  local day = days.day_of(context.now)
  local name = name_of(day, queue)
  local key = keys.day(kind, name)
  local counts, labels = counted(durations)
  local found = call('hmget', key, 'total', 'mean', 'vk', unpack(labels))
  local total, mean, squares = finite(found[1]) or 0, finite(found[2]) or 0, finite(found[3]) or 0
  for _, seconds in ipairs(durations) do total, mean, squares = moments.add(total, mean, squares, seconds) end
  local fields = { 'total', total, 'mean', mean, 'vk', squares }
  for index, label in ipairs(labels) do
    fields[#fields + 1] = label
    fields[#fields + 1] = (finite(found[3 + index]) or 0) + counts[label]
  end
  call('hset', key, unpack(fields))
  if not found[1] then
    know_day(day, name)
    call('zadd', keys.histograms(), day, name)
  end
end

-- Count something today: retries, failures, or failed.
function statistics.count(queue, counter, step)
  local day = days.day_of(context.now)
  local name = name_of(day, queue)
  if call('hincrby', keys.day('stats', name), counter, step) == step then know_day(day, name) end
end

-- A job that failed then, in that queue, is failed no longer.
function statistics.uncount_failed(queue, failed_at)
  local key = keys.day('stats', name_of(days.day_of(failed_at), queue))
  local failed = finite(call('hget', key, 'failed')) or 0
  if failed > 0 then call('hset', key, 'failed', failed - 1) end
end

-- A queue's day: fields of wait, run and counters. What only waits for its sweep is not shown.
function statistics.of(queue, date)
  local day = days.day_of(date)
  local kept, drawn = config.numbers('stats-history', 'histogram-history')
  if day < days.oldest_kept(context.now, kept) then return { {}, {}, {}, 0 } end
  local name = name_of(day, queue)
  return {
    call('hgetall', keys.day('wait', name)),
    call('hgetall', keys.day('run', name)),
    call('hgetall', keys.day('stats', name)),
    day >= days.oldest_kept(context.now, drawn) and 1 or 0,
  }
end

local SUMMARY = { total = true, mean = true, vk = true }

local function drop_histogram(key)
  local buckets = {}
  for _, field in ipairs(call('hkeys', key)) do
    if not SUMMARY[field] then buckets[#buckets + 1] = field end
  end
  if #buckets > 0 then call('hdel', key, unpack(buckets)) end
end

-- Drop at most so many summaries and histograms of days before those.
function statistics.sweep(oldest_summary, oldest_histogram, step)
  for _, name in ipairs(call('zrangebyscore', keys.days(), '-inf', '(' .. oldest_summary, 'limit', 0, step)) do
    call('del', keys.day('wait', name), keys.day('run', name), keys.day('stats', name))
    call('zrem', keys.days(), name)
  end
  for _, name in ipairs(call('zrangebyscore', keys.histograms(), '-inf', '(' .. oldest_histogram, 'limit', 0, step)) do
    drop_histogram(keys.day('wait', name))
    drop_histogram(keys.day('run', name))
    call('zrem', keys.histograms(), name)
  end
end

return statistics
