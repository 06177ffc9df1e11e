import type { Clock } from '#base/clock.ts';
import { maxDecisionAge } from '#control/consistent-read/basis.ts';
import {
  type NodeZoneProofs,
  UnshownZoneError,
} from '#control/consistent-read/node-zone-proofs.ts';
import { type AskOptions, askLedger } from '#control/ledger/ask-ledger.ts';
import type { LedgerAnswer } from '#control/ledger/ledger-questions.ts';
import type { BudgetRef } from '#disruption/budget.ts';
import { denialByView } from '#disruption/decision/governance.ts';
import type { Informer } from '#kubernetes/informer/informer.ts';
import type { PodView } from '#statefulset/view.ts';
import type { ZoneBudgetSpec } from '../api.ts';
import type { NamespaceViews } from '../cache/namespace-views.ts';
import type { ZoneBudgetView } from '../cache/zone-budget-view.ts';
import type { ZoneBudgetsInView } from '../cache/zone-budgets-in-view.ts';
import { judgedNodes } from '../ledger/judged-nodes.ts';
import type { ZoneLedgers } from '../ledger/zone-ledgers.ts';
import type { ZoneStandings } from '../ledger/zone-standings.ts';
import { type AskedBudget, askBudgets } from './ask-budgets.ts';
import type { ZoneBudgetVerdict } from './eviction-verdict.ts';

/** What {@link JudgedZoneEvictions} go through. */
export interface ZoneEvictionPorts {
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly pods: Pick<Informer<PodView>, 'lister'>;
  readonly inView: ZoneBudgetsInView;
  readonly views: Pick<NamespaceViews, 'prove'>;
  readonly standings: Pick<ZoneStandings, 'of'>;
  readonly ledgers: Pick<ZoneLedgers, 'of'>;
  readonly nodeZones: NodeZoneProofs;
  /** Notes that an eviction under `budget` was allowed, and that stored. */
  onGiven(budget: ZoneBudgetView): void;
}

/** How an eviction is judged. */
interface EvictionOptions {
  readonly isDryRun: boolean;
  /** It goes whatever the budgets say, and is stored. @default false */
  readonly isExempt?: boolean;
}

/** A judgement of one pod, while it is made. */
interface Judgement {
  readonly pod: PodView;
  readonly signal: AbortSignal;
  readonly isExempt: boolean;
  /** Whether the budgets over the pod are those that were asked first. */
  readonly isAsked: () => boolean;
}

/** Evictions, as the budgets and their ledgers have them; the same on every replica. */
export class JudgedZoneEvictions {
  readonly #ports: ZoneEvictionPorts;

  constructor(ports: ZoneEvictionPorts) {
    this.#ports = ports;
  }

  /** Returns the pod in the cache; undefined where the cache has none of that name. */
  pod(namespace: string, name: string): PodView | undefined {
    return this.#ports.pods.lister.get(namespace, name);
  }

  /**
   * Returns what all budgets over `pod` say to its eviction, by name; none where there is none. What they allow is stored by
   * then, but for dry runs. The budgets are those of a view that is at most 10 s old: one that is not seen yet governs all
   * the same.
   *
   * @throws the reason of `signal` when that aborts first; what the API server fails with
   */
  async judgeEviction(
    pod: PodView,
    { isDryRun, isExempt = false }: EvictionOptions,
    signal: AbortSignal,
  ): Promise<readonly ZoneBudgetVerdict[]> {
    for (let changes = 0; changes < mostChanges; changes += 1) {
      if (!this.#isFresh(pod.namespace)) await this.#ports.inView.look(pod.namespace, signal);
      const budgets = this.#ports.inView.over(pod);
      const isAsked = (): boolean => isSame(budgets, this.#ports.inView.over(pod));
      const judgement = { pod, signal, isAsked, isExempt };
      const asked = budgets.map((budget) => this.#asked(budget, judgement));
      const verdicts = await askBudgets(asked, { isDryRun });
      if (isAsked()) return verdicts;
    }
    throw new ZoneBudgetsChangingError(pod);
  }

  /** Reports whether the view of the budgets is proven to be at most 10 s old. */
  #isFresh(namespace: string): boolean {
    const provenAt = this.#ports.inView.provenAt(namespace);
    return provenAt !== undefined && this.#ports.clock.monotonic() - provenAt <= maxDecisionAge;
  }

  #asked(budget: ZoneBudgetView, judgement: Judgement): AskedBudget {
    const { namespace, name, uid, parsed } = budget;
    const ref: BudgetRef = { kind: 'ZoneDisruptionBudget', namespace, name, uid };
    if (parsed.kind === 'invalid') {
      const why = `${parsed.problem.path} ${parsed.problem.message}`;
      const verdict = { budget: ref, isDryRun: false, kind: 'unreadable', why } as const;
      return { name, isDryRun: false, ask: () => Promise.resolve(verdict) };
    }
    const { spec } = parsed;
    return {
      name,
      isDryRun: spec.isDryRun,
      ask: async (isDryRun) => {
        const answer = await this.#answer({ budget, spec }, isDryRun, judgement);
        if (answer.kind === 'allowed' && !isDryRun) this.#ports.onGiven(budget);
        return { budget: ref, isDryRun: spec.isDryRun, ...verdictOf(answer) };
      },
    };
  }

  async #answer(
    { budget, spec }: { readonly budget: ZoneBudgetView; readonly spec: ZoneBudgetSpec },
    isDryRun: boolean,
    { pod, signal, isAsked, isExempt }: Judgement,
  ): Promise<LedgerAnswer> {
    const { clock, ledgers, standings, views, nodeZones } = this.#ports;
    const ledger = ledgers.of(budget, spec);
    // To ask for what the pods alone forbid costs no request, however often.
    const now = clock.now();
    const { standing } = standings.of(budget, spec, now);
    const denial = isExempt ? undefined : denialByView({ pod, by: 'eviction' }, standing, now);
    if (denial !== undefined) return { kind: 'denied', denial };
    const judged = isExempt ? new Set<string>() : judgedNodes(pod, standing);
    const nodes = nodeZones.unproven(judged, clock.monotonic());
    const hidden = await nodeZones.read(nodes, signal).catch(unshownZone);
    if (hidden !== undefined) return { kind: 'unclear', why: hidden.message, until: undefined };
    const prove: AskOptions['prove'] = (within, since) =>
      views.prove(budget.namespace, within, since);
    const request = { pod, asking: { by: 'eviction' }, isDryRun, isExempt } as const;
    const [answer] = await askLedger(ledger, [request], { prove, signal, isAsked });
    return answer ?? { kind: 'unproven', since: undefined };
  }
}

/** Returns the error of a zone that is not seen. @throws what says something else */
function unshownZone(error: unknown): UnshownZoneError {
  if (error instanceof UnshownZoneError) return error;
  throw error;
}

/** The budgets over a pod were others each time that they had been asked. */
class ZoneBudgetsChangingError extends Error {
  override readonly name = 'ZoneBudgetsChangingError';

  constructor({ namespace, name }: PodView) {
    super(
      `Cannot judge the eviction of pod "${namespace}/${name}": ` +
        'the ZoneDisruptionBudgets over it have changed each time that they were asked',
    );
  }
}

type Said =
  | Extract<LedgerAnswer, { kind: 'allowed' | 'denied' }>
  | Pick<Extract<ZoneBudgetVerdict, { kind: 'unclear' }>, 'kind' | 'why' | 'until'>;

function verdictOf(answer: LedgerAnswer): Said {
  switch (answer.kind) {
    case 'allowed':
    case 'denied':
    case 'unclear':
      return answer;
    case 'unproven':
      return { kind: 'unclear', why: notProven, until: undefined };
    case 'outdated':
      return { kind: 'unclear', why: hasChanged, until: undefined };
    default:
      return answer satisfies never;
  }
}

/** Reports whether both are the same specs, in any order. */
function isSame(one: readonly ZoneBudgetView[], other: readonly ZoneBudgetView[]): boolean {
  return one.length === other.length && one.every((budget) => other.includes(budget));
}

/** How often the budgets over a pod may change while they are asked. */
const mostChanges = 5;

const notProven =
  'the view of the pods could not be proven to be fresh, as the cluster has changed each time';

const hasChanged = 'the budget has changed while it was asked';
