/* SPDX-License-Identifier: MIT */
/*
 * interval.h - how sure one is of a mean.
 */
#ifndef SL_INTERVAL_H
#define SL_INTERVAL_H

/* What 97.5 % of Student's t with so many degrees of freedom (from 1 on) do not exceed: a mean of
 * n samples lies within that times sd / sqrt(n) of the true one with a probability of 95 %. */
double sl_student95(unsigned freedom);

#endif
