import type { Clock } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import type { Monotonic } from '#base/units.ts';
import { canI } from '#kubernetes/authorization/access-review.ts';
import type { Client } from '#kubernetes/client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { missingObject } from '#kubernetes/shipped-object.ts';
import { isForbidden } from '#kubernetes/transport/api-error.ts';
import { callOf, type Deadline } from '../review/deadline.ts';
import { CLAIMS_NAME, claimLife } from './claim.ts';
import { sharedClaims } from './claim-store.ts';
import { type ClaimOutcome, type ClaimRequest, GroupClaims } from './group-claims.ts';
import { OwnClaims } from './own-claims.ts';

/** What {@link ReplicaClaims} works with. */
export interface ReplicaClaimsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** The operator's, where the ConfigMap stands. */
  readonly namespace: string;
  /** Names this process; new at every start. */
  readonly identity: string;
  /** Called with whether the Role refuses `verb` on the ConfigMap. */
  readonly onRefused?: (verb: string, isRefused: boolean) => void;
}

/** The verb of the API for that of a call. */
const verbs: Readonly<Record<string, string>> = { get: 'get', create: 'create', replace: 'update' };

/**
 * Claims groups among all replicas; where the Role does not permit the ConfigMap, in this process alone, which is as
 * much as any peer has. The first case is looked for at each claim, so that a Role may be amended without a restart.
 */
export class ReplicaClaims {
  readonly #options: ReplicaClaimsOptions;
  readonly #shared: GroupClaims;
  readonly #own: GroupClaims;
  /** The verb that the Role does not permit. */
  #refused: string | undefined;
  /** When the ConfigMap last answered. */
  #sharedAt: Monotonic | undefined;

  constructor(options: ReplicaClaimsOptions) {
    this.#options = options;
    const { client, namespace } = options;
    this.#shared = new GroupClaims({ ...options, store: sharedClaims(client, namespace) });
    this.#own = new GroupClaims({ ...options, store: new OwnClaims() });
  }

  /**
   * Claims the group of a set, or says who holds it.
   *
   * @throws what the client throws; the reason of the deadline when that is over
   */
  async claim(request: ClaimRequest, deadline: Deadline): Promise<ClaimOutcome> {
    // What was allowed without the ConfigMap holds its group also after the Role was amended.
    const obstacle = await this.#own.obstacle(request, deadline);
    if (obstacle !== undefined) return obstacle;
    try {
      const outcome = await this.#shared.claim(request, deadline);
      this.#share();
      return outcome;
    } catch (error) {
      if (!(await this.#isUnpermitted(error, deadline))) throw error;
    }
    return this.#own.claim(request, deadline);
  }

  /** Reports whether the Role is one that takes the ConfigMap to be there, as ours does: then a user has deleted it. */
  async #isMissing(verb: string, deadline: Deadline): Promise<boolean> {
    if (verb !== 'create') return false;
    const { client, namespace } = this.#options;
    const { group, plural: resource } = resourceTypes.configMaps;
    const access = { verb: 'update', group, resource, namespace, name: CLAIMS_NAME };
    return (await canI(client, access, callOf(deadline))).kind !== 'denied';
  }

  #share(): void {
    const { clock, log, onRefused } = this.#options;
    this.#sharedAt = clock.monotonic();
    if (this.#refused === undefined) return;
    onRefused?.(this.#refused, false);
    this.#refused = undefined;
    log.info('the Role permits the ConfigMap of the claims now', { name: CLAIMS_NAME });
  }

  /**
   * Reports whether the Role lacks a verb: a namespace that is being deleted, or a quota, answers 403 as well. While claims
   * that were seen may still be held, 30 s, that is a failure like any other.
   */
  async #isUnpermitted(error: unknown, deadline: Deadline): Promise<boolean> {
    const { client, clock, namespace } = this.#options;
    if (!isForbidden(error) || error.call.kind !== resourceTypes.configMaps.kind) return false;
    if (this.#refused !== undefined) return true;
    const verb = verbs[error.call.verb] ?? error.call.verb;
    const { group, plural: resource } = resourceTypes.configMaps;
    // No rule for one name permits creating it.
    const named = verb === 'create' ? {} : { name: CLAIMS_NAME };
    const access = { verb, group, resource, namespace, ...named };
    const answer = await canI(client, access, callOf(deadline));
    if (answer.kind !== 'denied') return false;
    // Others may hold claims that went with it: nothing is let shrink until it is there again.
    if (await this.#isMissing(verb, deadline)) {
      throw missingObject({ kind: 'ConfigMap', namespace, name: CLAIMS_NAME }, error);
    }
    const seen = this.#sharedAt;
    if (seen !== undefined && clock.monotonic() - seen < claimLife) return false;
    this.#tell(verb, answer.reason);
    return true;
  }

  /** Tells it once, and again when it had worked meanwhile. */
  #tell(verb: string, why: string): void {
    const { log, namespace, onRefused } = this.#options;
    this.#refused = verb;
    onRefused?.(verb, true);
    log.warn(
      `the Role does not permit ${verb} on the ConfigMap of the claims: scale-downs of one group exclude one another in this process only, so run a single replica, or permit getting, creating and updating it`,
      { verb, resource: 'configmaps', namespace, name: CLAIMS_NAME, why },
    );
  }
}
