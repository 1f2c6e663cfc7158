/* SPDX-License-Identifier: MIT */
/* What stands beside a slurm.conf: gres.conf, topology.conf (trees, blocks), topology.yaml; the first byte says which. */
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "t/fuzz/fuzz.h"

const char fuzz_name[] = "beside";

static const struct { const char *name, *conf; } files[] = {
	{ "gres.conf", "GresTypes=gpu,nic\nNodeName=n[1-8] Gres=gpu:4,nic:2\n" },
	{ "topology.conf", "TopologyPlugin=topology/tree\nNodeName=n[1-8]\n" },
	{ "topology.conf", "TopologyPlugin=topology/block\nNodeName=n[1-8]\n" },
	{ "topology.yaml", "NodeName=n[1-8]\n" },
};

static bool leads_away(const char *text)
{
	return strcasestr(text, "include") && strchr(text, '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t which = size ? data[0] % 4u : 0;
	char *text = strndup((const char *) data + (size != 0), size - (size != 0)), beside[512], path[512];
	struct sl_error err = { .code = SL_OK };
	struct sl_conf *c;

	MUST(text);
	if (!leads_away(text)) {
		snprintf(beside, sizeof(beside), "%s", fuzz_file(files[which].name, (const uint8_t *) text, strlen(text)));
		snprintf(path, sizeof(path), "%s", fuzz_file("slurm.conf", (const uint8_t *) files[which].conf, strlen(files[which].conf)));
		c = sl_conf_read(path, SL_CONF_MACHINE, &err);
		if (c) {
			fuzz_accepted++;
			MUST(c->nodes == 8);
			for (uint32_t i = 0; i < c->nodes; i++)
				MUST(c->node[i].topology && c->node[i].gres < c->gres_sets);
			sl_conf_destroy(c);
		} else {
			fuzz_refused(&err);
		}
		unlink(beside);
	}
	free(text);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	uint32_t which = make_below(seed, 4), n = 1 + make_below(seed, 7);
	char text[1000];

	switch (which) {
	case 0:
		snprintf(text, sizeof(text), "0AutoDetect=nvml\nNodeName=n[1-%u] Name=gpu Type=a File=/dev/nvidia[0-%u] Cores=0-7\nName=nic Type=b "
			 "Count=%uK\n", n, n, n);
		break;
	case 1:
		snprintf(text, sizeof(text), "1SwitchName=a Nodes=n[1-%u]\nSwitchName=b Nodes=n8 LinkSpeed=%u\nSwitchName=c Switches=a,b\n", n, n);
		break;
	case 2:
		snprintf(text, sizeof(text), "2BlockName=a Nodes=n[1-%u]\nBlockName=b Nodes=n8\nBlockSizes=1,%u\n", n, 1u << n % 4);
		break;
	default:
		snprintf(text, sizeof(text), "3---\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: r\n        children: s[1-2]\n"
			 "      - switch: s1\n        nodes: n[1-%u]\n      - switch: \"s2\"\n        nodes: n8\n", n);
	}
	return fuzz_text(to, text);
}
