#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine from Python: policies, decisions and simulations, without a cluster.

    sched_core.py        compares three policies, one of which is written here

Core runs core.lua, which lies beside this file, and speaks JSON with it, a line for a line.  It wants lua5.4 (or $LUA), and
LUA_PATH and LUA_CPATH as for specs unless sched/lua is installed below /usr.  Python 3 without any package.
"""
import json
import os
import subprocess


class PolicyError(Exception):
    """What the engine says of a policy, a cluster or a workload."""


class Core:
    """with Core() as core: core.simulate("easy", "synthetic:jobs=500", procs=64)["metrics"]"""

    def __init__(self):
        server = os.path.join(os.path.dirname(os.path.abspath(__file__)), "core.lua")
        self.process = subprocess.Popen([os.environ.get("LUA", "lua5.4"), server], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def call(self, name, **arguments):
        self.process.stdin.write(json.dumps({"call": name, **arguments}) + "\n")
        line = self.process.stdout.readline()
        if not line:    # what was wrong stands on stderr
            raise PolicyError("core.lua has ended with status %s" % self.process.wait())
        answer = json.loads(line)
        if "error" in answer:
            raise PolicyError(answer["error"])
        return answer["ok"]

    def check(self, policy):
        """A policy's figures, or what is wrong with it.  A policy is a name, a file, or source(...)."""
        return self.call("check", policy=policy)

    def decide(self, policy, cluster, **options):
        """One cycle: {"started": [...], "reserved": [...], "log": [...], "errors": [...]}."""
        return self.call("decide", policy=policy, cluster=cluster, options=options)

    def simulate(self, policy, workload, **options):
        """{"metrics": {...}, "jobs": [...]}; options as those of "schedlua sim": procs=64, seed=1."""
        return self.call("simulate", policy=policy, workload=workload, options=options)


def source(text, name="mine"):
    """A policy whose text is here."""
    return {"source": text, "name": name}


WIDEST = source("""return { api = 1, name = "widest", doc = "the widest first",
  rank = function(job) return job.num_tasks or 1 end }""", "widest")


def main():
    with Core() as core:
        plan = core.decide("easy", {
            "nodes": "4x8c",
            "running": [{"id": 1, "nodes": 3, "exclusive": True, "ends_in": "1h"}],
            "pending": [{"id": 2, "nodes": 4, "time_limit": "1h"}, {"id": 3, "nodes": 1, "time_limit": "30m"}],
        })
        print("started", [start["job"] for start in plan["started"]],
              "reserved", [(r["job"], r["in_s"]) for r in plan["reserved"]])
        for name, policy in (("fcfs", "fcfs"), ("easy", "easy"), ("widest", WIDEST)):
            run = core.simulate(policy, "synthetic:jobs=300", procs=64, seed=1)
            waits = [job["wait_s"] for job in run["jobs"]]
            print("%-8s mean wait %6.0f s, bounded slowdown %6.2f, longest wait %6d s"
                  % (name, run["metrics"]["wait_mean_s"], run["metrics"]["bsld_mean"], max(waits)))
        try:
            core.check(source("return { api = 1 }"))
        except PolicyError as why:
            print("refused:", str(why).splitlines()[0])


if __name__ == "__main__":
    main()
