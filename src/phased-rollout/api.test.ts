import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '#base/json.ts';
import { seconds } from '#base/units.ts';
import { defaultedFields, type PhasedRolloutSpec, parsePhasedRollout } from './api.ts';

const query = { expr: 'up', url: 'http://prometheus:9090' };

/** A valid object, with these members of `spec.check`, `spec` and `spec.check.query` in place of its own. */
function phasedRollout(
  check: Readonly<Record<string, JsonValue>> = {},
  spec: Readonly<Record<string, JsonValue>> = {},
  asked: Readonly<Record<string, JsonValue>> = {},
): JsonObject {
  return {
    spec: { targetRef: 'web', check: { query: { ...query, ...asked }, ...check }, ...spec },
  };
}

const usual: PhasedRolloutSpec = {
  targetRef: 'web',
  standardRollingUpdate: false,
  initialDelay: seconds(60),
  period: seconds(60),
  successThreshold: 3,
  query: { ...query, insecureSkipVerify: false, secretRef: undefined },
};

describe('parsePhasedRollout()', () => {
  const cases: Record<string, { object: JsonObject; want: Partial<PhasedRolloutSpec> | string }> = {
    'puts defaults where nothing is written': { object: phasedRollout(), want: {} },
    'reads what is written': {
      object: phasedRollout(
        { initialDelaySeconds: 10, periodSeconds: 5, successThreshold: 2 },
        { standardRollingUpdate: true },
        { insecureSkipVerify: true, secretRef: 'creds' },
      ),
      want: {
        standardRollingUpdate: true,
        initialDelay: seconds(10),
        period: seconds(5),
        successThreshold: 2,
        query: { ...query, insecureSkipVerify: true, secretRef: 'creds' },
      },
    },
    'reads bounds of values, and what no data is': {
      object: phasedRollout({}, {}, { thresholdRange: { max: 0.5 }, onNoData: 'Pass' }),
      want: {
        query: {
          ...query,
          insecureSkipVerify: false,
          secretRef: undefined,
          bounds: { max: 0.5 },
          isNoDataGood: true,
        },
      },
    },
    'takes bounds that are null for not written': {
      object: phasedRollout({}, {}, { thresholdRange: null, onNoData: null }),
      want: {},
    },
    'refuses bounds of nothing': {
      object: phasedRollout({}, {}, { thresholdRange: {} }),
      want: 'spec.check.query.thresholdRange must have a number as min, or as max, or both: got what is no such value',
    },
    'refuses bounds that nothing is within': {
      object: phasedRollout({}, {}, { thresholdRange: { min: 2, max: 1 } }),
      want: 'spec.check.query.thresholdRange.min must not be above max, which is 1: got 2',
    },
    'refuses a bound that is a text': {
      object: phasedRollout({}, {}, { thresholdRange: { min: '1', max: 2 } }),
      want: 'spec.check.query.thresholdRange.min must be a number: got "1"',
    },
    'refuses another word for no data': {
      object: phasedRollout({}, {}, { onNoData: 'Ignore' }),
      want: 'spec.check.query.onNoData must be Fail or Pass: got "Ignore"',
    },
    'reads a failure budget, a size of steps and a dry run': {
      object: phasedRollout(
        { failureBudget: { consecutiveFailures: 3, totalFailures: 5, onFailure: 'Rollback' } },
        { stepSize: 4, dryRun: true },
      ),
      want: {
        failureBudget: { consecutiveFailures: 3, totalFailures: 5, onFailure: 'Rollback' },
        stepSize: 4,
        isDryRun: true,
      },
    },
    'pauses where a failure budget does not say what is done': {
      object: phasedRollout({ failureBudget: { totalFailures: 1 } }),
      want: { failureBudget: { totalFailures: 1, onFailure: 'Pause' } },
    },
    'takes steps of one pod, and no dry run, for not written': {
      object: phasedRollout({ failureBudget: null }, { stepSize: 1, dryRun: false }),
      want: {},
    },
    'refuses a failure budget of nothing': {
      object: phasedRollout({ failureBudget: { onFailure: 'Rollback' } }),
      want: 'spec.check.failureBudget must have consecutiveFailures, or totalFailures, or both: got what is no such value',
    },
    'refuses a failure budget of no failure': {
      object: phasedRollout({ failureBudget: { consecutiveFailures: 0 } }),
      want: 'spec.check.failureBudget.consecutiveFailures must be an integer from 1 to 2147483647: got 0',
    },
    'refuses another word for what is done': {
      object: phasedRollout({ failureBudget: { totalFailures: 1, onFailure: 'Abort' } }),
      want: 'spec.check.failureBudget.onFailure must be Pause or Rollback: got "Abort"',
    },
    'refuses steps of no pod': {
      object: phasedRollout({}, { stepSize: 0 }),
      want: 'spec.stepSize must be an integer from 1 to 2147483647: got 0',
    },
    'refuses steps by a share of the pods': {
      object: phasedRollout({}, { stepSize: '10%' }),
      want: 'spec.stepSize must be an integer from 1 to 2147483647: got "10%"',
    },
    'reads a delay of 0 as none': {
      object: phasedRollout({ initialDelaySeconds: 0 }),
      want: { initialDelay: seconds(0) },
    },
    'asks neither without a pause nor without need': {
      object: phasedRollout({ periodSeconds: 0, successThreshold: 0 }),
      want: {},
    },
    'takes the empty name of a Secret for none': {
      object: phasedRollout({}, {}, { secretRef: '' }),
      want: {},
    },
    'takes null for not written': {
      object: phasedRollout({ periodSeconds: null }, { standardRollingUpdate: null }),
      want: {},
    },
    'refuses an object without a spec': {
      object: {},
      want: 'spec.targetRef must be a text that is not empty: got nothing',
    },
    'refuses an empty name of a StatefulSet': {
      object: phasedRollout({}, { targetRef: '' }),
      want: 'spec.targetRef must be a text that is not empty: got ""',
    },
    'refuses to ask nothing': {
      object: phasedRollout({ query: {} }),
      want: 'spec.check.query.expr must be a text that is not empty: got nothing',
    },
    'refuses a URL that is no text': {
      object: phasedRollout({}, {}, { url: 5 }),
      want: 'spec.check.query.url must be a text that is not empty: got 5',
    },
    'refuses a flag that is a text': {
      object: phasedRollout({}, {}, { insecureSkipVerify: 'true' }),
      want: 'spec.check.query.insecureSkipVerify must be true or false: got "true"',
    },
    'refuses a negative delay': {
      object: phasedRollout({ initialDelaySeconds: -1 }),
      want: 'spec.check.initialDelaySeconds must be an integer from 0 to 2147483647: got -1',
    },
    'refuses half a second': {
      object: phasedRollout({ periodSeconds: 0.5 }),
      want: 'spec.check.periodSeconds must be an integer from 0 to 2147483647: got 0.5',
    },
    'refuses more passes than the field can hold': {
      object: phasedRollout({ successThreshold: 2_147_483_648 }),
      want: 'spec.check.successThreshold must be an integer from 0 to 2147483647: got 2147483648',
    },
  };
  for (const [fact, { object, want }] of Object.entries(cases)) {
    test(`parsePhasedRollout() ${fact}`, () => {
      const parsed = parsePhasedRollout(object);
      if (typeof want === 'string') {
        assert.ok(parsed.kind === 'invalid');
        assert.equal(`${parsed.problem.path} ${parsed.problem.message}`, want);
      } else assert.deepEqual(parsed, { kind: 'valid', value: { ...usual, ...want } });
    });
  }
});

describe('defaultedFields()', () => {
  const all = { initialDelaySeconds: 60, periodSeconds: 60, successThreshold: 3 };
  const cases: Record<string, { object: JsonObject; want: JsonObject }> = {
    'adds what is missing': { object: phasedRollout(), want: all },
    'changes a written 0, as the peer does': {
      object: phasedRollout({ initialDelaySeconds: 0, periodSeconds: 0, successThreshold: 0 }),
      want: all,
    },
    'leaves what is written': {
      object: phasedRollout({ initialDelaySeconds: 1, periodSeconds: 2 }),
      want: { successThreshold: 3 },
    },
    'adds to an object without a spec': { object: {}, want: all },
  };
  for (const [fact, { object, want }] of Object.entries(cases)) {
    test(`defaultedFields() ${fact}`, () => assert.deepEqual(defaultedFields(object), want));
  }
});
