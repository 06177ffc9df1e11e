import { SecretReads } from '#check/credentials/credentials.ts';
import { StaleBasisError } from '#control/consistent-read/basis.ts';
import { namedScope } from '#control/resource/resource-moment.ts';
import { OverruledError } from '#control/write/pod-deletions.ts';
import { isProvenMoment, type UpdateMoment, type UpdateMomentPorts } from './update-moment.ts';

type Need = (signal: AbortSignal) => Promise<void>;

/** How often one pass has the view proven, or asks budgets, before it gives up for now. */
const mostTries = 3;

/** What one pass over a ZoneAwareUpdate has to see to before it deletes pods. */
export class UpdateNeeds {
  readonly #key: string;
  readonly #ports: UpdateMomentPorts;
  #reads = 0;
  #asks = 0;
  readonly #secrets: SecretReads;

  constructor(key: string, ports: UpdateMomentPorts) {
    this.#key = key;
    this.#ports = ports;
    this.#secrets = new SecretReads(ports.credentials);
  }

  /**
   * Returns what has to be read or reserved before the plan of `moment` may be acted on; undefined when nothing has. Also
   * notes what is wanted away.
   *
   * @throws StaleBasisError when the view is still not proven although it was read a few times, OverruledError when
   * the budgets have to be asked ever again
   */
  of(moment: UpdateMoment): Need | undefined {
    const { plan } = moment;
    this.#ports.budgets.wants(this.#key, new Set(permittedIn(moment)));
    const secret = this.#secretOf(moment);
    if (secret !== undefined) return secret;
    if (!plan.decisions.some(({ kind }) => kind === 'delete-pod')) return undefined;
    return isProvenMoment(moment) ? this.#reservations(moment) : this.#proof(moment);
  }

  /** Returns the Secret of the query, to be read just before that is asked. */
  #secretOf({ update, snapshot, plan }: UpdateMoment): Need | undefined {
    const { spec } = snapshot.resource;
    const name = spec.kind === 'valid' ? spec.value.query?.secretRef : undefined;
    const isAsked = plan.decisions.some((each) => each.kind === 'ask' && each.gate === 'query');
    if (name === undefined || !isAsked) return undefined;
    return this.#secrets.missing(update.namespace, [name]);
  }

  #proof({ update, unprovenNodes, snapshot: { target } }: UpdateMoment): Need {
    this.#reads += 1;
    if (this.#reads > mostTries) throw new StaleBasisError(Number.POSITIVE_INFINITY);
    const { reads, budgets, proofs, nodeZones } = this.#ports;
    const cached = target === undefined ? [] : [target.set];
    const scope = namedScope(update.namespace, target?.set.name ?? '');
    const wish = { pods: true, statefulSets: true };
    return async (signal) => {
      await Promise.all([
        reads.read(scope, { wish, cached }, signal),
        budgets.look(this.#key, signal),
        proofs.read(update, signal),
        nodeZones.read(unprovenNodes, signal),
      ]);
    };
  }

  /** Returns the reservations that pods under a budget need before they go. */
  #reservations({ wanted, permissions }: UpdateMoment): Need | undefined {
    const open = wanted.filter((_, at) => permissions[at]?.kind === 'to-ask');
    if (open.length === 0) return undefined;
    this.#asks += 1;
    if (this.#asks > mostTries) {
      throw new OverruledError('Cannot let pods go as the ledger of their budget kept changing');
    }
    return (signal) => this.#ports.budgets.ask(open, signal);
  }
}

/**
 * Returns the uids of the pods that are wanted, and that no budget keeps: what another budget gave for one that is kept is
 * given back.
 */
function permittedIn({ wanted, permissions }: UpdateMoment): readonly string[] {
  return wanted.flatMap(({ pod }, at) => {
    const kind = permissions[at]?.kind;
    return kind === 'refused' || kind === 'unclear' ? [] : [pod.uid];
  });
}
