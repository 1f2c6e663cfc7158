/* SPDX-License-Identifier: MIT */
#include "report/paired.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "report/interval.h"

uint32_t sl_paired_count(const struct sl_paired *p)
{
	return p->blocks - (p->blocks && !p->block[p->blocks - 1].n);
}

int sl_paired_begin_block(struct sl_paired *p, struct sl_error *err)
{
	if (sl_paired_count(p) < p->blocks)
		return 0;
	if (sl_grow(&p->block, &p->room, p->blocks + UINT64_C(1), sizeof(*p->block), err) < 0)
		return -1;
	p->block[p->blocks].sum = 0;
	p->block[p->blocks++].n = 0;
	return 0;
}

void sl_paired_add(struct sl_paired *p, double difference)
{
	p->sum += difference;
	p->n++;
	p->block[p->blocks - 1].sum += difference;
	p->block[p->blocks - 1].n++;
}

double sl_paired_mean(const struct sl_paired *p, double *half)
{
	uint32_t blocks = sl_paired_count(p);
	double mean = p->n ? p->sum / p->n : NAN, squares = 0;

	for (uint32_t i = 0; i < blocks; i++)
		squares += pow(p->block[i].sum - mean * p->block[i].n, 2);
	*half = blocks > 1 ? sl_student95(blocks - 1) * sqrt(squares * blocks / (blocks - 1)) / p->n : NAN;
	return mean;
}

uint32_t sl_paired_blocks(uint32_t jobs, uint32_t pairs)
{
	uint32_t n = pairs < SL_PAIRED_BLOCKS ? (SL_PAIRED_BLOCKS + pairs - 1) / pairs : 1;

	return n < jobs ? n : jobs ? jobs : 1;
}

void sl_paired_free(struct sl_paired *p)
{
	free(p->block);
	*p = (struct sl_paired) { 0 };
}
