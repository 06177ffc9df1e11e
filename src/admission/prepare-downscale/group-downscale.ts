import { assertNever } from '#base/assert-never.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import type { Client } from '#kubernetes/client.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import type { PodUrl } from '#pod-http/pod-url.ts';
import type { ClaimOutcome, GroupClaims } from '../claim/group-claims.ts';
import type { HeldClaim } from '../claim/held-claim.ts';
import type { PreparedSet } from '../downscale/prepared-set.ts';
import type { Deadline } from '../review/deadline.ts';
import { denyForFailure } from '../review/dependency.ts';
import { downscaleText, refusalText, type Shrinkage } from '../review/downscale-text.ts';
import { type AdmissionRequest, deny, type ReviewDecision } from '../review/review.ts';
import type { DownscaleRecord, RecordedDownscale } from './downscale-record.ts';
import { PodPreparation, untilDeadline } from './pod-preparation.ts';
import { listSiblings, type Sibling, unhealthySibling } from './siblings.ts';

/** What {@link GroupDownscale} works with. */
export interface GroupDownscaleOptions {
  /** Its own, so that no other webhook can starve it. */
  readonly client: Client;
  readonly podHttp: PodHttp;
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: DownscaleRecord;
  /** Decides among all replicas. */
  readonly groupClaims: Pick<GroupClaims, 'claim'>;
  /** `-kubernetes.cluster-domain`. */
  readonly clusterDomain: string;
  /** Called with work that goes on after the answer, so that a shutdown can wait for it. */
  readonly onBackground: (work: Promise<void>) => void;
}

/** A down-scale of a StatefulSet that asks for preparation. */
export interface Downscale {
  readonly request: AdmissionRequest;
  readonly shrinkage: Shrinkage;
  readonly set: PreparedSet;
  /** Where its pods are called. */
  readonly urlOf: PodUrl;
  /** `metadata.generation` of the set. */
  readonly generation: number;
}

/** What the steps of one review share. */
export interface Round {
  readonly deadline: Deadline;
  /** What goes on after the answer; the group is held until it has ended. */
  readonly background: Promise<void>[];
}

/** What is to be noted of a down-scale. */
interface Recording {
  readonly recorded: RecordedDownscale;
  readonly claim: HeldClaim;
}

/** Lets a set shrink when the group is claimed for it, its siblings are whole, and its pods agree. */
export class GroupDownscale {
  readonly #options: GroupDownscaleOptions;

  constructor(options: GroupDownscaleOptions) {
    this.#options = options;
  }

  /** Judges one among all replicas, from the look at its siblings until its change is seen. */
  async judge(downscale: Downscale, round: Round): Promise<ReviewDecision> {
    const { request, shrinkage, set, generation } = downscale;
    const { namespace, name } = request;
    let outcome: ClaimOutcome;
    try {
      const onBackground = (work: Promise<void>): void => this.#goOn(work, round);
      const asked = { namespace, set: name, group: set.group, generation, onBackground };
      outcome = await this.#options.groupClaims.claim(asked, round.deadline);
    } catch (error) {
      this.#failed('the group of a down-scale cannot be claimed', request, error);
      return denyForFailure(refusalText(request, shrinkage, unclaimed), error);
    }
    switch (outcome.kind) {
      case 'held':
        return deny(heldText(downscale, outcome.by));
      case 'unreadable':
        return unreadableClaim(refusalText(request, shrinkage, unclaimed), outcome.why);
      case 'claimed':
        return this.#underClaim(downscale, outcome.claim, round);
      default:
        return assertNever(outcome);
    }
  }

  /**
   * Judges it under a claim. A denial gives the claim up; what was allowed keeps it until its change is seen, or the claim
   * lapses.
   */
  async #underClaim(downscale: Downscale, claim: HeldClaim, round: Round): Promise<ReviewDecision> {
    let isAllowed = false;
    try {
      const decision = await this.#judgeGroup(downscale, claim, round);
      isAllowed = decision.isAllowed;
      return decision;
    } finally {
      if (!isAllowed) {
        const before = Promise.allSettled(round.background);
        const given = before.then(() => claim.giveUp());
        this.#goOn(given, round);
        await untilDeadline(given, round.deadline);
      }
    }
  }

  #goOn(work: Promise<void>, { background }: Round): void {
    background.push(work);
    this.#options.onBackground(work);
  }

  async #judgeGroup(downscale: Downscale, claim: HeldClaim, round: Round): Promise<ReviewDecision> {
    const { request, shrinkage, set } = downscale;
    const { deadline } = round;
    const refusal = (tail: string): string => refusalText(request, shrinkage, tail);
    const siblings = await this.#siblingsOf(downscale, deadline);
    if (siblings.kind === 'refused') return siblings.decision;
    const { namespace, name } = request;
    const recorded = { namespace, name, set, siblings: siblings.sets, refusal };
    const held =
      (await this.#options.record.check(recorded, deadline)) ??
      (await this.#healthProblem(recorded, deadline));
    if (held !== undefined) return held;
    return this.#prepare(downscale, { ...round, recorded, claim });
  }

  /** Returns the other sets of the group; a down-scale that cannot know them is refused. */
  async #siblingsOf(
    { request, shrinkage, set }: Downscale,
    deadline: Deadline,
  ): Promise<
    | { readonly kind: 'listed'; readonly sets: readonly Sibling[] }
    | { readonly kind: 'refused'; readonly decision: ReviewDecision }
  > {
    if (set.group === '') return { kind: 'listed', sets: [] };
    try {
      const { namespace, name } = request;
      const key = { namespace, name, group: set.group };
      return { kind: 'listed', sets: await listSiblings(key, this.#options.client, deadline) };
    } catch (error) {
      this.#failed('the other zones of a down-scale cannot be listed', request, error);
      const message = refusalText(request, shrinkage, 'finding other statefulsets failed.');
      return refused(denyForFailure(message, error));
    }
  }

  /** Returns why a sibling is not whole, or cannot be looked at; undefined when all are. */
  async #healthProblem(
    { namespace, name, siblings, refusal }: RecordedDownscale,
    deadline: Deadline,
  ): Promise<ReviewDecision | undefined> {
    const { client } = this.#options;
    try {
      const problem = await unhealthySibling(siblings, { namespace, client }, deadline);
      return problem === undefined ? undefined : deny(refusal(problem));
    } catch (error) {
      this.#failed('the pods of the other zones cannot be listed', { namespace, name }, error);
      return denyForFailure(refusal(uncheckedPods), error);
    }
  }

  /** Calls the pods that are to go, and allows the change once all have agreed and that is noted; else takes it back. */
  async #prepare(
    { request, shrinkage, set, urlOf }: Downscale,
    { recorded, claim, ...round }: Round & Recording,
  ): Promise<ReviewDecision> {
    const { deadline } = round;
    const { name, namespace } = request;
    // Highest ordinal first.
    const highest = set.ordinalsStart + shrinkage.from - 1;
    const pods = new PodPreparation(this.#options, {
      set: `${namespace}/${name}`,
      count: shrinkage.from - shrinkage.to,
      urlAt: (index) => urlOf(highest - index),
    });
    const isPrepared = await pods.prepare(deadline);
    const refused = isPrepared
      ? await this.#note({ recorded, claim }, deadline)
      : deny(recorded.refusal(unprepared), 'PodNotPrepared');
    if (refused === undefined) {
      const text = `${downscaleText(request, shrinkage)} is allowed -- all pods successfully prepared for shutdown.`;
      return { isAllowed: true, message: text };
    }
    // Where another review of this set was asked meanwhile, the pods are prepared, or not, as that one says.
    const undone = claim.reopen().then((isOurs) => (isOurs ? pods.undo() : undefined));
    this.#goOn(undone, round);
    await untilDeadline(undone, deadline);
    return refused;
  }

  /** Stores what must be in the API before the answer: that this set may shrink, and since when. */
  async #note(
    { recorded, claim }: Recording,
    deadline: Deadline,
  ): Promise<ReviewDecision | undefined> {
    try {
      if (!(await claim.allow(deadline))) return deny(recorded.refusal(lostClaim));
    } catch (error) {
      this.#failed('the claim of a down-scale cannot be kept', recorded, error);
      return denyForFailure(recorded.refusal(unclaimed), error);
    }
    return this.#options.record.note(recorded, deadline);
  }

  #failed(
    message: string,
    { namespace, name }: Pick<AdmissionRequest, 'namespace' | 'name'>,
    error: unknown,
  ): void {
    this.#options.log.error(message, { namespace, name, err: errorOf(error) });
  }
}

/** Returns why a set has to wait for the one that holds its group. */
export function heldText({ request, shrinkage }: Downscale, by: string): string {
  const tail = `statefulset ${by} is already in process of updating replicas`;
  return refusalText(request, shrinkage, tail);
}

function unreadableClaim(message: string, why: string): ReviewDecision {
  const causes = [{ reason: 'ClaimUnreadable', message: why }];
  return { isAllowed: false, message, code: 429, causes, doubt: 'Unreadable' };
}

function refused(decision: ReviewDecision): {
  readonly kind: 'refused';
  readonly decision: ReviewDecision;
} {
  return { kind: 'refused', decision };
}

const unclaimed = 'claiming the group failed.';
const unprepared = 'one or more pods failed to prepare for shutdown.';
const lostClaim = 'the claim of the group was lost, try again';
const uncheckedPods =
  'an error occurred while checking whether StatefulSets have non-updated replicas';
