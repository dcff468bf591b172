-- What differs between the two generations of old clients.

return {
  old = {
    empty = '{}', -- a list without members
    put = 'q', -- how a history tells the queue of a put
    out_of_retries = 'failed', -- how a history tells that no retry was left
    names_jobs = true, -- do errors name the job?
    shows_all = false, -- are throttles shown where there is none beside the queue's own?
    keeps_worker = true, -- does a job that was timed out show whose it was?
  },
  new = {
    empty = '[]', put = 'queue', out_of_retries = 'failed-retries', names_jobs = false, shows_all = true, keeps_worker = false,
  },
}
