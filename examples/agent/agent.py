#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that schedules a simulated cluster, one decision a line.

    agent.py fcfs|easy [OPTION...] WORKLOAD      options and workloads of schedlua sim

Simulation is all that a learned agent needs ("from agent import Simulation"): reset() and step() as in a gym, of
JSON as in "schedlua sim --schema".  A reward is the agent's own: observations say who waits since when, the end has
the figures of the whole run.  fcfs() and easy() answer as the bundled policies of these names do.  Python 3
without any package.
"""
import json
import os
import subprocess
import sys


class Simulation:
    """schedlua sim --step as a process; words are its command line."""

    def __init__(self, *words):
        program = os.environ.get("SCHEDLUA", "schedlua")
        self.process = subprocess.Popen([program, "sim", "--step", "--quiet", *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def reset(self):
        """The first observation."""
        return self.read()

    def step(self, action):
        """Take an action; the next observation, or the end with its figures."""
        self.process.stdin.write(json.dumps(action) + "\n")
        return self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:    # what was wrong stands on stderr
            raise SystemExit(self.process.wait() or 1)
        return json.loads(line)


def fcfs(observation, tried):
    """First come, first served: nobody overtakes the first job that does not fit."""
    last = observation["last"]
    if not observation["queue"] or (last and not last["taken"]):
        return {"done": True}
    return {"start": observation["queue"][0]["job"]}


def easy(observation, tried):
    """EASY backfill: the first job that does not fit gets a reservation, which others do not delay."""
    last = observation["last"]
    if last and last["action"] == "start" and not last["taken"]:
        return {"reserve": last["job"]}
    for job in observation["queue"]:
        if job["job"] not in tried:
            tried.add(job["job"])
            return {"backfill" if observation["head"] else "start": job["job"]}
    return {"done": True}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("fcfs", "easy"):
        raise SystemExit("usage: agent.py fcfs|easy [OPTION...] WORKLOAD")
    answer = {"fcfs": fcfs, "easy": easy}[sys.argv[1]]
    simulation = Simulation(*sys.argv[2:])
    observation = simulation.reset()
    while observation["type"] == "observation":
        if observation["last"] is None:     # a new instant
            tried = set()
        observation = simulation.step(answer(observation, tried))
    print(json.dumps({key: observation[key] for key in ("decisions", "jobs", "wait_mean_s", "bsld_mean", "utilization")}))


if __name__ == "__main__":
    main()
