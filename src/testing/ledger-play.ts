import assert from 'node:assert/strict';
import { instant } from '#base/units.ts';
import type { Budget } from '#disruption/budget.ts';
import { type Decided, type DisruptionRequest, decide, type Round } from '#disruption/decide.ts';
import { formatLedger } from '#disruption/format-ledger.ts';
import { emptyLedger, type Ledger } from '#disruption/ledger.ts';
import { parseLedger } from '#disruption/parse-ledger.ts';
import { standingOf } from '#disruption/standing.ts';
import { ChangingWorld } from './changing-world.ts';
import { type Beginning, budgetOf, type Step, snapshotOf } from './disruption-history.ts';
import type { ModelRequest, World } from './disruption-model.ts';

/** A ledger of the operator in a world that changes; read anew from its stored form for each round. */
export class Play {
  readonly budget: Budget;
  readonly changing: ChangingWorld;
  ledger: Ledger;

  constructor(beginning: Beginning) {
    this.budget = budgetOf(beginning.budget);
    this.changing = new ChangingWorld(beginning);
    this.ledger = emptyLedger(this.budget.ref);
  }

  get world(): World {
    return this.changing.world;
  }

  requests(step: Step): readonly ModelRequest[] {
    return step.do === 'ask' ? step.round.map((asked) => this.changing.request(asked)) : [];
  }

  /** What a round would come to, without storing it. */
  try(requests: readonly DisruptionRequest[], rest: Partial<Round> = {}): Decided {
    const now = instant(this.world.now);
    const standing = standingOf(this.budget, snapshotOf(this.world), now);
    const round = { now, leader: this.changing.leader, requests, ...rest };
    return decide(restarted(this.ledger), round, standing);
  }

  decide(requests: readonly DisruptionRequest[], rest: Partial<Round> = {}): Decided {
    const decided = this.try(requests, rest);
    this.ledger = decided.ledger;
    return decided;
  }

  /** What the step says, and for one that takes something back, what. */
  take(step: Step): Partial<Round> {
    this.changing.take(step);
    if (step.do !== 'take-back') return {};
    const { uid } = this.changing.request({
      ...step,
      override: undefined,
      isDryRun: false,
      isStale: false,
    });
    return { voided: [{ uid, by: step.by }] };
  }
}

/** The ledger as the next process reads it. */
function restarted(ledger: Ledger): Ledger {
  const read = parseLedger({ ...formatLedger(ledger) }, ledger.budget, 'ConfigMap ops/ledger');
  assert.ok(read.kind === 'ledger');
  return read.ledger;
}

/** Plays `steps` and lets `look` see each round before it is stored. */
export function play(
  beginning: Beginning,
  steps: readonly Step[],
  look: (stage: {
    readonly play: Play;
    readonly step: Step;
    readonly rest: Partial<Round>;
  }) => void,
): void {
  const stage = new Play(beginning);
  for (const step of steps) {
    const rest = stage.take(step);
    look({ play: stage, step, rest });
  }
}
