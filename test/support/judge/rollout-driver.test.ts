import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type GroupOptions, ingesterGroup } from '../objects/objects.ts';
import { type Judgement, judge } from './judge.ts';
import { type Mistake, RolloutDriver } from './rollout-driver.ts';
import { operatorUser } from './story-operator.ts';

const worlds = fc.record({
  zones: fc.constantFrom(['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd']),
  replicas: fc.integer({ min: 2, max: 5 }),
  maxUnavailable: fc.constantFrom('1', '2', '50%'),
  choices: fc.array(fc.nat({ max: 100_000 }), { minLength: 60, maxLength: 120 }),
});

interface World extends GroupOptions {
  readonly choices: readonly number[];
}

function run(world: World, mistake?: Mistake): RolloutDriver {
  const { choices, ...options } = world;
  const group = ingesterGroup({ currentRevision: 'prev-hash', ...options });
  const driver = new RolloutDriver(group, mistake);
  for (const choice of choices) {
    if (!driver.isComplete) driver.step(choice);
  }
  return driver;
}

function judged(driver: RolloutDriver): Judgement {
  const { story } = driver;
  const ours = (user: string): boolean => user === operatorUser;
  return judge(story, { ours, statements: story.statements, effort: { perSet: 0 } });
}

test('judge() flags nothing in any rollout by a correct operator', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const judgement = judged(run(world));
      assert.equal(judgement.violations.length, 0, judgement.report());
    }),
    { numRuns: 150, seed: 20261120 },
  );
});

const mistakes: Record<Mistake, string> = {
  'removes in a second zone': 'EXCL-2',
  'removes what is not ready just now': 'EXCL-2',
  'removes one too many': 'MAXU-2',
  'forgets the uid': 'REV-1',
  'forgets the resourceVersion': 'REV-1',
  'removes an up-to-date pod': 'REV-2',
  'names another uid': 'REV-1',
  'says nothing': 'D-7',
  'claims what it was not given': 'D-7',
};

for (const [mistake, id] of Object.entries(mistakes)) {
  test(`judge() flags an operator that ${mistake} as ${id}`, () => {
    let erred = 0;
    fc.assert(
      fc.property(worlds, (world) => {
        const driver = run(world, toMistake(mistake));
        if (!driver.hasErred) return;
        erred += 1;
        const judgement = judged(driver);
        const ids = judgement.violations.map((each) => each.id);
        assert.ok(
          ids.some((found) => found === id),
          judgement.report(),
        );
      }),
      { numRuns: 40, seed: 20261120 },
    );
    assert.ok(erred > 20, `only ${erred} of 40 worlds let the operator err`);
  });
}

function toMistake(text: string): Mistake | undefined {
  return Object.keys(mistakes).find((each): each is Mistake => each === text);
}
