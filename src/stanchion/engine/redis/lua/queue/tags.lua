-- A job's tags, and the index of them.

local call = use('call')
local context = use('context')
local keys = use('keys')
local ordered = use('queue/ordered')
local texts = use('texts')

local tags = {}

local function set_of(list)
  local set = {}
  for _, tag in ipairs(list) do set[tag] = true end
  return set
end

local function add(jid, tag)
  if ordered.append(keys.tagged(tag), context.now, jid) == 1 then call('zincrby', keys.tags(), 1, tag) end
end

local function remove(jid, tag)
  if call('zrem', keys.tagged(tag), jid) == 1 and tonumber(call('zincrby', keys.tags(), -1, tag)) <= 0 then
    call('zrem', keys.tags(), tag)
  end
end

-- Let the index hold a job's new tags instead of its old; those that stay keep their place.
function tags.reindex(jid, old, new)
  local kept = set_of(new)
  for _, tag in ipairs(old) do
    if not kept[tag] then remove(jid, tag) end
  end
  local had = set_of(old)
  for _, tag in ipairs(new) do
    if not had[tag] then add(jid, tag) end
  end
end

-- Set a job's tags.
function tags.set(job, list)
  call('hset', keys.job(job.jid), 'tags', texts.list(list))
  tags.reindex(job.jid, texts.names(job.tags), list)
  return list
end

-- A list with others added at its end, none twice.
function tags.with(list, more)
  local there, all = set_of(list), {}
  for _, tag in ipairs(list) do all[#all + 1] = tag end
  for _, tag in ipairs(more) do
    if not there[tag] then
      there[tag] = true
      all[#all + 1] = tag
    end
  end
  return all
end

-- A list without some.
function tags.without(list, gone)
  local going, left = set_of(gone), {}
  for _, tag in ipairs(list) do
    if not going[tag] then left[#left + 1] = tag end
  end
  return left
end

return tags
