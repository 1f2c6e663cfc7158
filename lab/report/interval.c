/* SPDX-License-Identifier: MIT */
#include "report/interval.h"

#include <math.h>

/* The first ones exactly; then the expansion of the quantile in 1 / freedom around the normal's. */
double sl_student95(unsigned freedom)
{
	static const double first[] = { 12.7062047364, 4.3026527300, 3.1824463053, 2.7764451052, 2.5705818366, 2.4469118511,
		2.3646242516, 2.3060041352, 2.2621571628 };
	const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
	double n = freedom;

	if (!freedom)
		return NAN;
	if (freedom <= sizeof(first) / sizeof(first[0]))
		return first[freedom - 1];
	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
		(3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}
