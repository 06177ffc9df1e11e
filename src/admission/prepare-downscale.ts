import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { Logger } from '#base/logger.ts';
import { seconds } from '#base/units.ts';
import { isNotFound } from '#kubernetes/api-error.ts';
import type { Client } from '#kubernetes/client.ts';
import type { ResourceType } from '#kubernetes/resource-type.ts';
import type { PodHttp } from '#pod-http/pod-http.ts';
import type { Claims } from './claims.ts';
import { callOf, type Deadline } from './deadline.ts';
import { denyForFailure, overloadText } from './dependency.ts';
import type { DownscaleRecord, RecordedDownscale } from './downscale-record.ts';
import { downscaleText, refusalText, type Shrinkage } from './downscale-text.ts';
import { prepareDownscaleFront } from './fronts.ts';
import { formatKind, kindOf } from './object-kind.ts';
import type { Places } from './places.ts';
import { planPrepareDownscale } from './plan-prepare-downscale.ts';
import { PodPreparation, untilDeadline } from './pod-preparation.ts';
import { missingAddress, type PreparedSet, podUrls, preparedSetOf } from './prepared-set.ts';
import {
  type AdmissionRequest,
  allowWithWarning,
  deny,
  type ReviewContext,
  type Verdict,
  type Webhook,
} from './review.ts';
import { scaleTargetTypes } from './scale-target.ts';
import { listSiblings, type Sibling, unhealthySibling } from './siblings.ts';
import type { WorkloadKind } from './workload.ts';

/** What {@link prepareDownscale} works with. */
export interface PrepareDownscaleOptions {
  /** Its own, so that no other webhook can starve it (D5). */
  readonly client: Client;
  readonly podHttp: PodHttp;
  readonly clock: Clock;
  readonly log: Logger;
  readonly record: DownscaleRecord;
  /** One for the whole process. */
  readonly claims: Claims;
  /** For reviews that may call anybody. */
  readonly places: Places;
  /** `-kubernetes.cluster-domain`. */
  readonly clusterDomain: string;
  /** Told of work that goes on after the answer, so that a shutdown can wait for it. */
  readonly onBackground: (work: Promise<void>) => void;
}

/** More pods than can be prepared within any deadline. */
const mostPods = 10_000;
/** D-27: pods are called. */
const patience = seconds(5);

/** Lets a StatefulSet shrink when its siblings are whole and all pods that are to go have said yes (§5, §6). */
export function prepareDownscale(options: PrepareDownscaleOptions): Webhook {
  const webhook = new PrepareDownscale(options);
  return {
    ...prepareDownscaleFront,
    patience,
    judge: (request, context) => webhook.judge(request, context),
  };
}

/** A decrease of replicas, before it is known whether preparation is asked for. */
interface Decrease {
  readonly request: AdmissionRequest;
  readonly shrinkage: Shrinkage;
  /** The answer where it is not (P5). */
  readonly ungoverned: Verdict;
}

/** A down-scale of a StatefulSet that asks for preparation. */
interface Downscale {
  readonly request: AdmissionRequest;
  readonly shrinkage: Shrinkage;
  readonly set: PreparedSet;
}

class PrepareDownscale {
  readonly #options: PrepareDownscaleOptions;

  constructor(options: PrepareDownscaleOptions) {
    this.#options = options;
  }

  judge(request: AdmissionRequest, context: ReviewContext): Verdict | Promise<Verdict> {
    const change = planPrepareDownscale(request);
    if (change.kind === 'settled') return change.verdict;
    const { old, shrinkage, ungoverned } = change;
    const decrease = { request, shrinkage, ungoverned };
    if (old.is === 'StatefulSet') {
      return this.#judgeSet(decrease, preparedSetOf(old.raw), context);
    }
    if (old.is === 'Scale') return this.#judgeScale(decrease, context);
    return allowWithWarning(`${typeText(old.raw, old.is)}, allowing the change`);
  }

  /** P4: the facts are those of the live set. */
  async #judgeScale(decrease: Decrease, context: ReviewContext): Promise<Verdict> {
    const { request, shrinkage } = decrease;
    const { resource } = request;
    const type = resource === 'statefulsets' ? scaleTargetTypes.get(resource) : undefined;
    if (type === undefined) {
      return allowWithWarning(`unsupported resource ${resource}, allowing the change`);
    }
    const live = await this.#liveSet({ type, request, shrinkage }, context);
    return live.kind === 'read' ? this.#judgeSet(decrease, live.set, context) : live.verdict;
  }

  async #liveSet(
    { type, request, shrinkage }: Omit<Downscale, 'set'> & { readonly type: ResourceType },
    context: ReviewContext,
  ): Promise<
    | { readonly kind: 'read'; readonly set: PreparedSet | string }
    | { readonly kind: 'refused'; readonly verdict: Verdict }
  > {
    const { name, namespace } = request;
    const leave = this.#options.places.take();
    if (leave === undefined) return refused(deny(overloadText(downscaleText(request, shrinkage))));
    try {
      const call = callOf(context.deadline());
      const live = await this.#options.client.get(type, { namespace, name }, call);
      return { kind: 'read', set: preparedSetOf(live) };
    } catch (error) {
      if (isNotFound(error)) {
        return refused(allowWithWarning(`${error.message}, allowing the change`));
      }
      this.#failed('the StatefulSet of a down-scale cannot be read', request, error);
      return refused(denyForFailure(refusalText(request, shrinkage, `${unreadableSet}.`), error));
    } finally {
      leave();
    }
  }

  #judgeSet(
    { request, shrinkage, ungoverned }: Decrease,
    set: PreparedSet | string,
    context: ReviewContext,
  ): Verdict | Promise<Verdict> {
    const refuse = (tail: string): Verdict => deny(refusalText(request, shrinkage, tail));
    if (typeof set === 'string') return refuse(`${unreadableSet}: ${set}`);
    if (!set.isPrepared) return ungoverned;
    const missing = missingAddress(set);
    if (missing !== undefined) return refuse(missing);
    const count = shrinkage.from - shrinkage.to;
    if (count > mostPods) return refuse(`more than ${mostPods} pods would have to be prepared`);
    const leave = this.#options.places.take();
    if (leave === undefined) return deny(overloadText(downscaleText(request, shrinkage)));
    return this.#claimed({ request, shrinkage, set }, context).finally(leave);
  }

  /** One down-scale of a group at a time, from the look at its siblings to the note (Z8, W2). */
  async #claimed(downscale: Downscale, context: ReviewContext): Promise<Verdict> {
    const { request, set } = downscale;
    const { namespace, name } = request;
    // A group may bear the name of a set: no name has a slash.
    const key = set.group === '' ? `${namespace}/set/${name}` : `${namespace}/group/${set.group}`;
    const claim = this.#options.claims.claim(key, name);
    if (claim.kind === 'held') {
      const tail = `statefulset ${claim.by} is already in process of updating replicas`;
      return deny(refusalText(request, downscale.shrinkage, tail));
    }
    const background: Promise<void>[] = [];
    try {
      return await this.#judgeGroup(downscale, context.deadline(), background);
    } finally {
      // While pods are still being told to forget it, nobody may prepare them anew.
      if (background.length === 0) claim.release();
      else void Promise.allSettled(background).then(claim.release);
    }
  }

  async #judgeGroup(
    downscale: Downscale,
    deadline: Deadline,
    background: Promise<void>[],
  ): Promise<Verdict> {
    const { request, shrinkage, set } = downscale;
    const refusal = (tail: string): string => refusalText(request, shrinkage, tail);
    const siblings = await this.#siblingsOf(downscale, deadline);
    if (siblings.kind === 'refused') return siblings.verdict;
    const { namespace, name } = request;
    const recorded = { namespace, name, set, siblings: siblings.sets, refusal };
    const held =
      (await this.#options.record.check(recorded, deadline)) ??
      (await this.#healthProblem(recorded, deadline));
    if (held !== undefined) return held;
    return this.#prepare(downscale, { recorded, deadline, background });
  }

  /** P8. */
  async #siblingsOf(
    { request, shrinkage, set }: Downscale,
    deadline: Deadline,
  ): Promise<
    | { readonly kind: 'listed'; readonly sets: readonly Sibling[] }
    | { readonly kind: 'refused'; readonly verdict: Verdict }
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

  /** P10. */
  async #healthProblem(
    { namespace, name, siblings, refusal }: RecordedDownscale,
    deadline: Deadline,
  ): Promise<Verdict | undefined> {
    const { client } = this.#options;
    try {
      const problem = await unhealthySibling(siblings, { namespace, client }, deadline);
      return problem === undefined ? undefined : deny(refusal(problem));
    } catch (error) {
      this.#failed('the pods of the other zones cannot be listed', { namespace, name }, error);
      return denyForFailure(refusal(uncheckedPods), error);
    }
  }

  /** P11 to P15. */
  async #prepare(
    { request, shrinkage, set }: Downscale,
    rest: {
      readonly recorded: RecordedDownscale;
      readonly deadline: Deadline;
      readonly background: Promise<void>[];
    },
  ): Promise<Verdict> {
    const { recorded, deadline, background } = rest;
    const { name, namespace } = request;
    const { clusterDomain, record } = this.#options;
    const urls = podUrls(set, shrinkage, { set: name, namespace, clusterDomain });
    const pods = new PodPreparation(this.#options, `${namespace}/${name}`, urls);
    const isPrepared = await pods.prepare(deadline);
    const refused = isPrepared
      ? await record.note(recorded, deadline)
      : deny(recorded.refusal('one or more pods failed to prepare for shutdown.'));
    if (refused === undefined) {
      const text = `${downscaleText(request, shrinkage)} is allowed -- all pods successfully prepared for shutdown.`;
      return { isAllowed: true, message: text };
    }
    const undone = pods.undo();
    background.push(undone);
    this.#options.onBackground(undone);
    await untilDeadline(undone, deadline);
    return refused;
  }

  #failed(
    message: string,
    { namespace, name }: Pick<AdmissionRequest, 'namespace' | 'name'>,
    error: unknown,
  ): void {
    this.#options.log.error(message, { namespace, name, err: errorOf(error) });
  }
}

function refused(verdict: Verdict): { readonly kind: 'refused'; readonly verdict: Verdict } {
  return { kind: 'refused', verdict };
}

const unreadableSet = 'the StatefulSet cannot be read';
const uncheckedPods =
  'an error occurred while checking whether StatefulSets have non-updated replicas';

/** P4, for types that have replicas and no pods with names. */
function typeText(raw: Parameters<typeof kindOf>[0], is: WorkloadKind): string {
  const kind = kindOf(raw);
  const text = kind.kind === 'valid' ? formatKind(kind.value) : is;
  return `unsupported type ${text} (go type *v1.${is})`;
}
