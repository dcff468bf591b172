-- What all modules share during one call: whose keys they are, what time it is (as a number, and as the same in text, which saves the server
-- to write it out each time), whether the caller gave it, and whether the call may write.

local context = { namespace = '', now = 0, now_text = '0', given = false, reads = false }

-- Are records written with all that old scripts expect there?
context.whole_records = false

-- Is an old client's call answered? Then nobody is told more than the old scripts tell, and histories have whole seconds: this text.
context.old_call = false
context.second = '0'

-- How histories name the queue of a put, and tell that no retry was left: as the old client's kind does it.
context.put_names_queue = 'q'
context.out_of_retries = 'failed'

function context.begin(namespace, reads)
  context.namespace = namespace
  context.reads = reads
end

function context.begin_old_call(second)
  context.old_call = true
  context.second = string.format('%.0f', second)
end

-- The time that histories and failures show.
function context.when() return context.old_call and context.second or context.now_text end

return context
