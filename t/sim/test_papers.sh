#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the IPSCHED and AUCSCHED papers reached, and what we want of our own policies, in
# the form that takes seconds (bench/papers.c).
exec bench/papers --short
