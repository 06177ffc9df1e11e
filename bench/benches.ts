/** All benchmarks, by the names under which they run. */
import { admission } from './admission/admission.ts';
import { rotation } from './admission/rotation.ts';
import type { Bench } from './bench.ts';
import { evictions } from './evictions/evictions.ts';
import { bundle } from './operator/bundle.ts';
import { idle } from './operator/idle.ts';
import { start } from './operator/start.ts';
import { phasedChecks } from './phased-rollout/phased-checks.ts';
import { phasedRollouts } from './phased-rollout/phased-rollouts.ts';
import { reaction } from './rollout-group/reaction.ts';
import { rollout } from './rollout-group/rollout.ts';
import { scaling } from './rollout-group/scaling.ts';
import { server } from './server.ts';
import { percentRest } from './statefulset-rollout/percent-rest.ts';
import { percentRollouts } from './statefulset-rollout/percent-rollouts.ts';
import { zoneEvictions } from './zone-aware/zone-evictions.ts';
import { zoneMemory } from './zone-aware/zone-memory.ts';
import { zoneUpdates } from './zone-aware/zone-updates.ts';

/** See above. */
export const benches: Readonly<Record<string, Bench>> = {
  rollout,
  reaction,
  scaling,
  start,
  idle,
  server,
  admission,
  rotation,
  bundle,
  evictions,
  'phased-checks': phasedChecks,
  'phased-rollouts': phasedRollouts,
  'zone-updates': zoneUpdates,
  'zone-evictions': zoneEvictions,
  'zone-memory': zoneMemory,
  'percent-rollouts': percentRollouts,
  'percent-rest': percentRest,
};
