#!/bin/sh
# SPDX-License-Identifier: MIT
# Make configure and the Makefile templates.
set -e
cd "$(dirname "$0")"
exec autoreconf --force --install --warnings=all
