import assert from 'node:assert/strict';
import { instant } from '#base/units.ts';
import type { Budget } from '#disruption/budget.ts';
import {
  type DecidedRound,
  type DisruptionRequest,
  decide,
  type Round,
} from '#disruption/decision/decide.ts';
import { formatLedger } from '#disruption/format-ledger.ts';
import { emptyLedger, type Ledger } from '#disruption/ledger.ts';
import { parseLedger } from '#disruption/parse-ledger.ts';
import type { Leader } from '#disruption/release.ts';
import { standingOf } from '#disruption/standing.ts';
import type { ModelRequest, World } from '../oracles/disruption-model.ts';
import { ChangingWorld } from './changing-world.ts';
import { type Beginning, budgetOf, type Step, snapshotOf } from './disruption-history.ts';

/** A ledger of the operator in a world that changes; read again from its stored form for each round. */
export class Play {
  readonly budget: Budget;
  readonly changing: ChangingWorld;
  ledger: Ledger;
  /** uids of pods that the leader does not want away any more. */
  dropped: ReadonlySet<string> = new Set();

  constructor(beginning: Beginning) {
    this.budget = budgetOf(beginning.budget);
    this.changing = new ChangingWorld(beginning);
    this.ledger = emptyLedger(this.budget.ref);
  }

  get world(): World {
    return this.changing.world;
  }

  get leader(): Leader {
    return { ...this.changing.leader, isIntended: (uid) => !this.dropped.has(uid) };
  }

  requests(step: Step): readonly ModelRequest[] {
    return step.do === 'ask' ? step.round.map((asked) => this.changing.request(asked)) : [];
  }

  /** Returns what a round would come to, without storing it. */
  try(requests: readonly DisruptionRequest[], rest: Partial<Round> = {}): DecidedRound {
    const now = instant(this.world.now);
    const standing = standingOf(this.budget, snapshotOf(this.world), now);
    const round = { now, leader: this.leader, requests, ...rest };
    return decide(restarted(this.ledger), round, standing);
  }

  decide(requests: readonly DisruptionRequest[], rest: Partial<Round> = {}): DecidedRound {
    const decided = this.try(requests, rest);
    this.ledger = decided.ledger;
    return decided;
  }

  /** Does what the step says; an asker on behalf of the leader wants the pod away from then on. */
  take(step: Step): void {
    this.changing.take(step);
    if (step.do === 'take-back') {
      const asked = { ...step, override: undefined, isDryRun: false, isStale: false };
      this.dropped = new Set([...this.dropped, this.changing.request(asked).uid]);
    }
    const wanted = new Set(
      this.requests(step)
        .filter(({ by, isDryRun }) => by !== 'eviction' && !isDryRun)
        .map(({ uid }) => uid),
    );
    this.dropped = new Set([...this.dropped].filter((uid) => !wanted.has(uid)));
  }
}

/** Returns the ledger as the next process reads it. */
function restarted(ledger: Ledger): Ledger {
  const read = parseLedger({ ...formatLedger(ledger) }, ledger.budget, 'ConfigMap ops/ledger');
  assert.ok(read.kind === 'ledger');
  return read.ledger;
}

/** Plays `steps` and lets `look` see each round before it is stored. */
export function play(
  beginning: Beginning,
  steps: readonly Step[],
  look: (stage: { readonly play: Play; readonly step: Step }) => void,
): void {
  const stage = new Play(beginning);
  for (const step of steps) {
    stage.take(step);
    look({ play: stage, step });
  }
}
