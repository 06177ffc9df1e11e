import { errorOf } from '#base/error-of.ts';
import { problemText } from '#base/parsed.ts';
import { SparseLog } from '#base/sparse-log.ts';
import { seconds } from '#base/units.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { isNotFound } from '#kubernetes/transport/api-error.ts';
import type { PodUrl } from '#pod-http/pod-url.ts';
import { isProtected } from '#statefulset/metadata/protective-switch.ts';
import { type LiveSet, liveSetOf } from '../downscale/live-set.ts';
import { missingAddress, type PreparedSet, preparationUrls } from '../downscale/prepared-set.ts';
import { scaleTarget } from '../downscale/scale-target.ts';
import type { WorkloadKind } from '../downscale/workload.ts';
import type { ConcurrencyLimit } from '../review/concurrency-limit.ts';
import { callOf, type Deadline } from '../review/deadline.ts';
import { denyForFailure, failureKind, overloadText } from '../review/dependency.ts';
import {
  downscaleText,
  PREPARE_DOWNSCALE,
  refusalText,
  type Shrinkage,
  unnamedResource,
} from '../review/downscale-text.ts';
import { formatKind, kindOf } from '../review/object-kind.ts';
import {
  type AdmissionRequest,
  allowWithWarning,
  type Doubt,
  deny,
  type ReviewContext,
  type ReviewDecision,
  type Webhook,
} from '../review/review.ts';
import { webhookPaths } from '../webhook-configuration/webhook-paths.ts';
import {
  type Downscale,
  GroupDownscale,
  type GroupDownscaleOptions,
  heldText,
} from './group-downscale.ts';
import type { GroupLocks } from './group-locks.ts';
import { planPrepareDownscale } from './plan-prepare-downscale.ts';

/** What {@link prepareDownscale} works with. */
export interface PrepareDownscaleOptions extends GroupDownscaleOptions {
  /** One for the whole process. */
  readonly locks: GroupLocks;
  /** For reviews that may make calls. */
  readonly limit: ConcurrencyLimit;
}

/** Pods that one review has called at most: what a stranger may post must not cost calls without end (D-59). */
const mostPods = 1_000;
/** D-27: pods are called. */
const patience = seconds(5);

/** Lets a StatefulSet shrink when its siblings are whole and all pods that are to go have said yes. */
export function prepareDownscale(options: PrepareDownscaleOptions): Webhook {
  const webhook = new PrepareDownscale(options);
  return {
    path: webhookPaths.prepareDownscale,
    patience,
    judge: (request, context) => webhook.judge(request, context),
  };
}

/** A decrease of replicas, before it is known whether preparation is asked for. */
interface Decrease {
  readonly request: AdmissionRequest;
  readonly shrinkage: Shrinkage;
  /** The answer where it is not. */
  readonly ungoverned: ReviewDecision;
  /** The answer where there is no such set, from what the client said. */
  readonly absent: (error: Error) => ReviewDecision;
}

/** A set whose pods can be called, or the answer. */
type Preparable =
  | { readonly kind: 'settled'; readonly decision: ReviewDecision }
  | { readonly kind: 'preparable'; readonly set: PreparedSet; readonly urlOf: PodUrl };

class PrepareDownscale {
  readonly #options: PrepareDownscaleOptions;
  readonly #group: GroupDownscale;
  /** Any client may cause failures, by reviews of what the Role does not permit reading. */
  readonly #failures: SparseLog;

  constructor(options: PrepareDownscaleOptions) {
    this.#options = options;
    this.#group = new GroupDownscale(options);
    this.#failures = new SparseLog(options.log, options.clock);
  }

  judge(
    request: AdmissionRequest,
    context: ReviewContext,
  ): ReviewDecision | Promise<ReviewDecision> {
    const change = planPrepareDownscale(request);
    if (change.kind === 'settled') return change.decision;
    const { old, shrinkage, ungoverned } = change;
    const decrease = { request, shrinkage, ungoverned };
    if (old.is === 'StatefulSet') {
      // That warning has no effect; all that has one rests on the live set.
      if (!isProtected(old.labels.get(PREPARE_DOWNSCALE))) return ungoverned;
      const absent = (): ReviewDecision => deny(refusalText(request, shrinkage, differentSet));
      return this.#judgeLive({ ...decrease, absent }, context);
    }
    if (old.is === 'Scale') return this.#judgeScale(decrease, context);
    return allowWithWarning(`${typeText(old.raw, old.is)}, allowing the change`);
  }

  /** Judges a Scale, which says neither labels nor annotations: the set that it scales is read. */
  #judgeScale(
    decrease: Omit<Decrease, 'absent'>,
    context: ReviewContext,
  ): ReviewDecision | Promise<ReviewDecision> {
    const { request, shrinkage } = decrease;
    const { resource } = request;
    if (resource === '')
      return deny(refusalText(request, shrinkage, unnamedResource), 'Unreadable');
    if (scaleTarget(request) !== resourceTypes.statefulSets) {
      return allowWithWarning(`unsupported resource ${resource}, allowing the change`);
    }
    const absent = (error: Error): ReviewDecision =>
      allowWithWarning(`${error.message}, allowing the change`);
    return this.#judgeLive({ ...decrease, absent }, context);
  }

  /** Judges by the facts of the live set (D-59). */
  async #judgeLive(decrease: Decrease, context: ReviewContext): Promise<ReviewDecision> {
    const { request, shrinkage } = decrease;
    if (shrinkage.from - shrinkage.to > mostPods) {
      return deny(refusalText(request, shrinkage, tooManyPods));
    }
    const leave = this.#options.limit.acquire();
    if (leave === undefined)
      return deny(overloadText(downscaleText(request, shrinkage)), 'Overloaded');
    try {
      const live = await this.#liveSet(decrease, context.deadline());
      if (live.kind === 'refused') return live.decision;
      const { set: found, generation } = live.set;
      const checked = this.#preparable(decrease, found);
      if (checked.kind === 'settled') return withSwitchProblem(checked.decision, found);
      const { set, urlOf } = checked;
      const downscale = { request, shrinkage, set, urlOf, generation };
      return withSwitchProblem(await this.#alone(downscale, context), found);
    } finally {
      leave();
    }
  }

  async #liveSet(
    { request, shrinkage, absent }: Decrease,
    deadline: Deadline,
  ): Promise<
    | { readonly kind: 'read'; readonly set: LiveSet }
    | { readonly kind: 'refused'; readonly decision: ReviewDecision }
  > {
    const { name, namespace, oldObject } = request;
    try {
      const type = resourceTypes.statefulSets;
      const live = await this.#options.client.get(type, { namespace, name }, callOf(deadline));
      const set = liveSetOf(live, oldObject, shrinkage.from);
      if (set !== undefined) return { kind: 'read', set };
      return refused(deny(refusalText(request, shrinkage, differentSet)));
    } catch (error) {
      if (isNotFound(error)) return refused(absent(error));
      const fields = { namespace, name, err: errorOf(error) };
      const message = 'the StatefulSet of a down-scale cannot be read';
      this.#failures.error(failureKind(error), message, fields);
      return refused(denyForFailure(refusalText(request, shrinkage, `${unreadableSet}.`), error));
    }
  }

  /** Lets one down-scale of a group go on at a time in this process: the rest are denied without a call. */
  async #alone(downscale: Downscale, context: ReviewContext): Promise<ReviewDecision> {
    const { request, set } = downscale;
    const { namespace, name } = request;
    // A group may bear the name of a set: no name has a slash.
    const key = set.group === '' ? `${namespace}/set/${name}` : `${namespace}/group/${set.group}`;
    const lock = this.#options.locks.acquire(key, name);
    if (lock.kind === 'held') return deny(heldText(downscale, lock.by));
    const background: Promise<void>[] = [];
    try {
      return await this.#group.judge(downscale, { deadline: context.deadline(), background });
    } finally {
      // While pods are still being notified to forget it, they may not be prepared again.
      if (background.length === 0) lock.release();
      else void Promise.allSettled(background).then(lock.release);
    }
  }

  /** Returns the set where it asks for preparation, and its pods can be called; else the answer. */
  #preparable({ request, shrinkage, ungoverned }: Decrease, set: PreparedSet | string): Preparable {
    const refuse = (tail: string, doubt?: Doubt): Preparable => ({
      kind: 'settled',
      decision: deny(refusalText(request, shrinkage, tail), doubt),
    });
    if (typeof set === 'string') return refuse(`${unreadableSet}: ${set}`, 'Unreadable');
    if (!set.isPrepared) return { kind: 'settled', decision: ungoverned };
    const missing = missingAddress(set);
    if (missing !== undefined) return refuse(missing);
    const { clusterDomain } = this.#options;
    const { name, namespace } = request;
    const urls = preparationUrls(set, { set: name, namespace, clusterDomain });
    if (urls.kind === 'valid') return { kind: 'preparable', set, urlOf: urls.value };
    return refuse(`${urls.problem.path} ${urls.problem.message}`);
  }
}

function refused(decision: ReviewDecision): {
  readonly kind: 'refused';
  readonly decision: ReviewDecision;
} {
  return { kind: 'refused', decision };
}

/** Adds to `decision` what is wrong with the label that asks for preparation: it is the reason why anything was judged. */
function withSwitchProblem(decision: ReviewDecision, set: PreparedSet | string): ReviewDecision {
  const problem = typeof set === 'string' ? undefined : set.switchProblem;
  if (problem === undefined) return decision;
  const text = problemText(problem);
  if (!decision.isAllowed) return { ...decision, message: `${decision.message} (${text})` };
  return { ...decision, warnings: [...(decision.warnings ?? []), text] };
}

const tooManyPods = `more than ${mostPods} pods would have to be prepared: scale down in steps of at most ${mostPods}`;
const unreadableSet = 'the StatefulSet cannot be read';
const differentSet = 'the StatefulSet is not, or no longer, as the request has it, try again';
/** Returns what the peer says of types that have replicas, and no pods with names. */
function typeText(raw: Parameters<typeof kindOf>[0], is: WorkloadKind): string {
  const kind = kindOf(raw);
  const text = kind.kind === 'valid' ? formatKind(kind.value) : is;
  return `unsupported type ${text} (go type *v1.${is})`;
}
