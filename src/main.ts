#!/usr/bin/env node
import { runCommand } from '#command/run.ts';

process.exitCode = await runCommand(process.argv.slice(2));
