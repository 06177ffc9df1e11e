/** What people are told of a ZoneDisruptionBudget that does not do what a user meant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instant } from '#base/units.ts';
import { standingOf } from '#disruption/standing.ts';
import { podView, statefulSetView, T0 } from '#support/objects/views.ts';
import type { ZoneBudgetSpec } from '../api.ts';
import { judgedZoneBudget } from '../ledger/judged-budget.ts';
import { parseZoneBudget } from '../spec/parse-zone-budget.ts';
import { type ProblemSight, zoneBudgetProblems } from './plan-problems.ts';

const parsed = parseZoneBudget({
  metadata: { namespace: 'demo', name: 'zdb' },
  spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
});

/** A budget over `count` pods of a set, of which those of `unknown` run on nodes that tell no zone. */
function over(count: number, unknown: readonly string[] = []): ProblemSight {
  assert.ok(parsed.kind === 'valid');
  const spec: ZoneBudgetSpec = parsed.spec;
  const identity = { namespace: 'demo', name: 'zdb', uid: 'u' };
  const budget = judgedZoneBudget(identity, spec, (pod) =>
    unknown.includes(pod) ? undefined : 'a',
  );
  const set = statefulSetView({ name: 'web', spec: { replicas: count } });
  const pods = Array.from({ length: count }, (_, ordinal) =>
    podView({
      name: `web-${ordinal}`,
      uid: `${ordinal}`,
      controllerUid: set.uid,
      nodeName: 'node',
    }),
  );
  const sets = count === 0 ? [] : [{ set, pods }];
  const standing = standingOf(budget, { sets, leaving: new Set() }, instant(T0));
  return { parsed, standing };
}

const cases: Readonly<Record<string, { sight: ProblemSight; told: readonly string[] }>> = {
  'nothing of a budget that does its work': { sight: over(3), told: [] },
  'which field cannot be read, and what it says': {
    sight: {
      parsed: parseZoneBudget({
        spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 'many' },
      }),
    },
    told: ['InvalidSpec: spec.maxUnavailable must be an integer'],
  },
  'that it is unknown what was given away, and until when': {
    sight: {
      parsed,
      ledger: { kind: 'unclear', why: 'there is no ConfigMap', until: instant(T0) },
    },
    told: ['LedgerUnknown: until 2026-01-01T00:00:00Z: there is no ConfigMap'],
  },
  'that a user has to mend a ledger': {
    sight: { parsed, ledger: { kind: 'unclear', why: 'it is newer', until: undefined } },
    told: ['LedgerUnknown: until that is corrected: it is newer'],
  },
  'which pods are of something else than a StatefulSet': {
    sight: { ...over(1), strangers: ['job-a', 'job-b', 'job-c', 'job-d'] },
    told: ['UnsupportedController: job-a, job-b, job-c and 1 more'],
  },
  'that it selects nothing': { sight: over(0), told: ['NothingSelected: no pod'] },
  'of which pod the zone is unknown': {
    sight: over(3, ['web-2']),
    told: ['ZoneUnknown: zone web-2 runs, so it does not go'],
  },
  'of which pods the zone is unknown': {
    sight: over(5, ['web-4', 'web-1', 'web-2', 'web-3']),
    told: ['ZoneUnknown: zone web-1, web-2, web-3 and 1 more run, so they do not go'],
  },
};
for (const [what, { sight, told }] of Object.entries(cases)) {
  test(`zoneBudgetProblems() tells ${what}`, () => {
    const problems = zoneBudgetProblems(sight);
    assert.equal(problems.length, told.length, JSON.stringify(problems));
    for (const [index, text] of told.entries()) {
      const [reason = '', words = ''] = text.split(/: (.*)/u);
      assert.equal(problems[index]?.reason, reason);
      assert.ok(problems[index]?.message.includes(words), problems[index]?.message);
    }
  });
}
