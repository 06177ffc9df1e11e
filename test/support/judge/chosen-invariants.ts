import { type Instant, type Millis, seconds } from '#base/units.ts';
import type { BudgetHistory } from '../history/budget-history.ts';
import type { History } from '../history/history.ts';
import type { OwnDisruptions } from '../history/own-disruptions.ts';
import type { DisruptionStatement, ScaleStatement, StatementBook } from '../history/statement.ts';
import type { Seen } from '../history/stuck.ts';
import { Conservation } from '../invariants/budgets/conservation.ts';
import { Released } from '../invariants/budgets/released.ts';
import { StoredIntent } from '../invariants/budgets/stored-intent.ts';
import { KeptDelay } from '../invariants/delay.ts';
import { FreshExclusion, GroupExclusion } from '../invariants/exclusion.ts';
import { RespectedHolds } from '../invariants/holds.ts';
import type { Invariant } from '../invariants/invariant.ts';
import { Completion, type CompletionOptions } from '../invariants/liveness/completion.ts';
import {
  Effort,
  type EffortOptions,
  Quiescence,
  type QuietOptions,
} from '../invariants/liveness/effort.ts';
import { Pace } from '../invariants/liveness/pace.ts';
import { RetoldStall } from '../invariants/liveness/retold.ts';
import { ExplainedStall, type StallOptions } from '../invariants/liveness/stall.ts';
import { FreshMaxUnavailable, MaxUnavailable } from '../invariants/max-unavailable.ts';
import { type Receipts, StatedProof } from '../invariants/proof.ts';
import { Incarnation, OneKillPerSlot, TargetRevision } from '../invariants/revision.ts';
import { SoundScaling } from '../invariants/scaling.ts';
import { ShownState } from '../invariants/shown.ts';
import { SingleWriter } from '../invariants/single-writer.ts';
import { StatedScaling } from '../invariants/stated-scaling.ts';
import type { FleetCall } from '../pods/pod-fleet.ts';

/** What is judged. Each part that is left out is not judged, and the report says so. */
export interface JudgeOptions {
  /** Whether a user name is the operator's. */
  readonly ours: (user: string) => boolean;
  /** The operator's statements of proof (D-7). Without them EXCL-2, MAXU-2, SHOWN and D-7 are not judged. */
  readonly statements?: readonly DisruptionStatement[];
  /** The same of writes of replicas. Without them D-7, EXCL-2 and SHOWN of down-scales are not judged. */
  readonly scaleStatements?: readonly ScaleStatement[];
  /**
   * Whether the history knows what watches had delivered; against a real API server that is unknown, and of D-7 only
   * the statement itself is judged. @default true
   */
  readonly areDeliveriesKnown?: boolean;
  /**
   * Where it is unknown what watches had delivered: after how long a commit counts as shown to a client whose watches
   * are live. @default SHOWN is not judged there
   */
  readonly shownAfter?: Millis;
  /** Whether we review evictions: then those that the API server executed are judged by BUDG-1 and D-36. @default false */
  readonly areEvictionsReviewed?: boolean;
  /** `-rollout.stuck-after`; 0: never. @default 30 min */
  readonly stuckAfter?: Millis;
  /** `A` of docs/rules/words.md. @default 10 s (D-3) */
  readonly maxDecisionAge?: Millis;
  /** By when all is done, whatever was in the way: LIVE-1, or LIVE-3. */
  readonly completion?: CompletionOptions;
  /** What may be said of a standstill, and how soon (LIVE-2). */
  readonly stalls?: StallOptions;
  /** From when on nothing may be written (QUIE-1). */
  readonly quiet?: QuietOptions;
  /** WRITES: how many writes a rolled pod may cost (D-16). */
  readonly effort?: EffortOptions;
  /** All calls that reached pods, in order of arrival: the delay rule of SCAL-1. */
  readonly podCalls?: readonly FleetCall[];
  /** When the history ended. @default the time of its last record */
  readonly end?: Instant;
}

/** What invariants look at. */
interface Evidence {
  readonly history: History;
  readonly statements: StatementBook;
  readonly disruptions: OwnDisruptions;
  readonly receipts: Receipts;
  readonly budgets: BudgetHistory;
  /** When the call was sent; undefined while it is not known. */
  readonly sentAt: (callId: number) => Instant | undefined;
}

/** Returns every invariant that can be judged by what `options` give. */
export function invariantsOf(options: JudgeOptions, evidence: Evidence): readonly Invariant[] {
  return [...always(options, evidence), ...onRequest(options, evidence)];
}

function always(options: JudgeOptions, evidence: Evidence): readonly Invariant[] {
  const { ours, maxDecisionAge = seconds(10) } = options;
  const { history, statements, disruptions, sentAt } = evidence;
  const rests = { history, statements, ours, maxDecisionAge };
  return [
    new GroupExclusion(history, disruptions),
    new MaxUnavailable(disruptions),
    new FreshExclusion({ history, disruptions, maxDecisionAge }),
    new FreshMaxUnavailable({
      history,
      disruptions,
      statements,
      ...stuckAfterOf(options),
    }),
    new Incarnation(rests),
    new TargetRevision(rests),
    new OneKillPerSlot(history),
    new RespectedHolds(history),
    new SoundScaling({ ours, maxDecisionAge, sentAt }),
    new SingleWriter(),
    ...budgeted(options, evidence),
    new Pace(ours),
  ];
}

/**
 * Returns of budgets: what goes is in a ledger before (BUDG-1, D-36), within the limit (BUDG-2), and is taken out by
 * evidence, once (BUDG-4, BUDG-5).
 */
function budgeted(options: JudgeOptions, evidence: Evidence): readonly Invariant[] {
  const { ours, maxDecisionAge = seconds(10), areDeliveriesKnown = true, shownAfter } = options;
  const { areEvictionsReviewed = false } = options;
  const { history, budgets } = evidence;
  const by = areDeliveriesKnown ? evidence.receipts : shownAfter;
  const known = { history, budgets, ours, by, maxDecisionAge };
  return [
    new StoredIntent({ ...known, areTimesExact: areDeliveriesKnown, areEvictionsReviewed }),
    new Conservation(known),
    new Released(known),
  ];
}

function onRequest(options: JudgeOptions, evidence: Evidence): readonly Invariant[] {
  const { ours, statements, completion, stalls, quiet, effort, podCalls } = options;
  const { history } = evidence;
  const found: Invariant[] = [];
  if (statements !== undefined) found.push(...stated(options, evidence));
  if (completion !== undefined) found.push(new Completion(history, completion));
  if (stalls !== undefined) found.push(new ExplainedStall(history, { ...stalls, ours }));
  if (stalls?.retold !== undefined) {
    const { said, retold } = stalls;
    found.push(new RetoldStall({ history, ours, said, ...retold }));
  }
  if (quiet !== undefined) found.push(new Quiescence(ours, quiet, podCalls));
  if (effort !== undefined) found.push(new Effort(ours, effort));
  if (podCalls !== undefined) found.push(new KeptDelay({ ours, podCalls }));
  return found;
}

/** Returns those that rest on what the operator says of its requests. */
function stated(options: JudgeOptions, evidence: Evidence): readonly Invariant[] {
  const { ours, scaleStatements, maxDecisionAge = seconds(10) } = options;
  const { history, statements, disruptions } = evidence;
  const { areDeliveriesKnown = true, shownAfter } = options;
  const receipts = areDeliveriesKnown ? evidence.receipts : undefined;
  const by = receipts ?? shownAfter;
  const found: Invariant[] = [new StatedProof({ history, receipts })];
  if (scaleStatements !== undefined) {
    found.push(new StatedScaling({ history, disruptions, receipts, maxDecisionAge }));
  }
  if (by !== undefined) {
    const said = { statements, scaleStatements: scaleStatements ?? [] };
    found.push(
      new ShownState({ history, disruptions, ours, by, ...said, ...stuckAfterOf(options) }),
    );
  }
  return found;
}

/** Returns `-rollout.stuck-after`, where it is given. */
export function stuckAfterOf({ stuckAfter }: JudgeOptions): Pick<Seen, 'stuckAfter'> {
  return stuckAfter === undefined ? {} : { stuckAfter };
}
