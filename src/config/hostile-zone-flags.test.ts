/** Hostile: what controller-runtime 0.14.1 takes on the command line, whatever its usage listing says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readZoneAwareConfig } from './zone-aware-config.ts';

/** Taken by `pkg/log/zap/flags.go` of v0.14.1: it knows `nanos`, though its usage listing says `nano`; a level is any `strconv.Atoi` above 0. */
const taken = [
  '--zap-time-encoding=nanos',
  '--zap-time-encoding=NANOS',
  '--zap-log-level=1000',
  '--metrics-bind-address=[::1]:8080',
  '--metrics-bind-address=localhost:0',
  '--health-probe-bind-address=0.0.0.0:8081',
  '--leader-elect=T',
  '-leader-elect',
  '--zap-devel=0',
];

for (const argument of taken) {
  test(`${argument} is taken, as by the peer`, () => {
    const outcome = readZoneAwareConfig([argument], {});
    assert.equal(outcome.kind, 'run', outcome.kind === 'exit' ? outcome.stderr : '');
  });
}
