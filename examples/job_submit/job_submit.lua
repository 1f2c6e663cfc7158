-- SPDX-License-Identifier: MIT
-- What many sites have: a time limit is asked for, GPUs go to partition gpu, short jobs to a QOS of their own.
function slurm_job_submit(job_desc, part_list, submit_uid)
	if job_desc.time_limit == slurm.NO_VAL then
		slurm.log_user("Please say how long it takes: --time=H:MM:SS")
		return slurm.ESLURM_MISSING_TIME_LIMIT
	end
	local gres = job_desc.tres_per_node
	if gres and gres:find("gpu") and job_desc.partition == nil then
		job_desc.partition = "gpu"
	end
	local part = job_desc.partition and part_list[job_desc.partition]
	if part and job_desc.time_limit > part.max_time then
		slurm.log_user("Partition %s has jobs of at most %d minutes", part.name, part.max_time)
		return slurm.ESLURM_INVALID_TIME_LIMIT
	end
	if job_desc.time_limit <= 60 and job_desc.comment == nil then
		job_desc.comment = "short"
	end
	return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
	return slurm.SUCCESS
end
