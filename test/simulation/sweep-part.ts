/** One thread of `npm run do sweep`: takes every n-th fault of one story. */
import { parentPort, workerData } from 'node:worker_threads';
import { scenarios } from './scenarios.ts';
import { sweep, tellReference } from './sweep-engine.ts';

const { name, part, parts } = workerData as {
  readonly name: string;
  readonly part: number;
  readonly parts: number;
};
const scenario = scenarios.find((each) => each.name === name);
if (scenario === undefined) throw new Error(`Cannot find the scenario "${name}"`);
const told = await tellReference(scenario);
const { sample = 1 } = scenario;
const faults = told.faults
  .filter((_fault, index) => index % sample === 0)
  .filter((_fault, index) => index % parts === part);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
parentPort?.postMessage(await sweep(faults, told));
