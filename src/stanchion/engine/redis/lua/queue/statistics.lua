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

local known = {} -- the text of a day, which is asked for again and again

local function name_of(day, queue)
  if day ~= known.day then known.day, known.text = day, string.format('%.0f:', day) end
  return known.text .. queue
end

local function know_day(day, name)
  call('zadd', keys.days(), day, name)
end

local function know(day, name)
  know_day(day, name)
  call('zadd', keys.histograms(), day, name)
end

local function record_one(key, seconds)
  local label = histogram.bucket(seconds)
  local found = call('hmget', key, 'total', 'mean', 'vk', label)
  local total, mean, squares =
    moments.add(finite(found[1]) or 0, finite(found[2]) or 0, finite(found[3]) or 0, seconds)
  call('hset', key, 'total', total, 'mean', mean, 'vk', squares, label, (finite(found[4]) or 0) + 1)
  return not found[1]
end

local function record_many(key, durations)
  local found = call('hmget', key, 'total', 'mean', 'vk')
  local total, mean, squares = finite(found[1]) or 0, finite(found[2]) or 0, finite(found[3]) or 0
  local counts = {}
  for index = 1, #durations do
    local label = histogram.bucket(durations[index])
    counts[label] = (counts[label] or 0) + 1
    total, mean, squares = moments.add(total, mean, squares, durations[index])
  end
  call('hset', key, 'total', total, 'mean', mean, 'vk', squares)
  for label, count in pairs(counts) do call('hincrby', key, label, count) end
  return not found[1]
end

-- Count durations, in seconds, among today's of the queue. The kind is wait or run.
function statistics.record(kind, queue, durations)
  local day = days.day_of(context.now)
  local name = name_of(day, queue)
  local key = keys.day(kind, name)
  local is_new
  if #durations == 1 then
    is_new = record_one(key, durations[1])
  else
    is_new = record_many(key, durations)
  end
  if is_new then know(day, name) end
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
