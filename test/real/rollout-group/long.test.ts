import { describe } from 'node:test';
import { defineMinutes } from './minutes.ts';
import { defineStorm } from './storm.ts';

// Each has a control plane of its own; all but the storm wait most of the time.
describe('what takes minutes', { concurrency: true }, () => {
  defineStorm();
  defineMinutes();
});
