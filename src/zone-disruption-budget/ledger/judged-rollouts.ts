import type { Clock } from '#base/clock.ts';
import { getOrAdd } from '#base/get-or-add.ts';
import type { Instant } from '#base/units.ts';
import type { BudgetProof } from '#control/budget/budget-sight.ts';
import type { GroupBudgets, WantedDisruption } from '#control/budget/group-budgets.ts';
import { strictestOf } from '#control/budget/joint-budgets.ts';
import type { RolloutIntents } from '#control/budget/rollout-intents.ts';
import type { NodeZoneProofs } from '#control/consistent-read/node-zone-proofs.ts';
import { type AskOptions, askLedger } from '#control/ledger/ask-ledger.ts';
import { type Mode, rolloutOverride } from '#disruption/budget.ts';
import type { DisruptionRequest } from '#disruption/decision/decide.ts';
import { permissionsOn, type Wanted } from '#disruption/decision/governance.ts';
import type { Permission } from '#disruption/decision/permission.ts';
import type { ZoneBudgetSpec } from '../api.ts';
import type { NamespaceViews } from '../cache/namespace-views.ts';
import type { ZoneBudgetView } from '../cache/zone-budget-view.ts';
import type { ZoneBudgetsInView } from '../cache/zone-budgets-in-view.ts';
import { judgedNodes } from './judged-nodes.ts';
import type { ZoneLedgers } from './zone-ledgers.ts';
import type { ZoneStandings } from './zone-standings.ts';

/** What {@link JudgedZoneRollouts} go through. */
export interface ZoneRolloutPorts {
  readonly clock: Pick<Clock, 'monotonic' | 'now'>;
  readonly inView: Pick<ZoneBudgetsInView, 'over' | 'provenAt' | 'look'>;
  readonly views: Pick<NamespaceViews, 'prove'>;
  readonly standings: Pick<ZoneStandings, 'of'>;
  readonly ledgers: Pick<ZoneLedgers, 'of'>;
  readonly nodeZones: NodeZoneProofs;
  readonly intents: RolloutIntents;
  /** Returns the term in which this process leads; undefined while it does not. */
  term(): string | undefined;
  /** Notes that pods under `budget` were given away, and that stored. */
  onGiven(budget: ZoneBudgetView): void;
}

/** A budget that binds, and what it is asked for. */
interface Asked {
  readonly budget: ZoneBudgetView;
  readonly spec: ZoneBudgetSpec;
  readonly pods: readonly WantedDisruption[];
}

/** The mode of every ZoneDisruptionBudget, as far as overrides go. */
const mode: Mode = { kind: 'zones-of-nodes', zoneOf: () => undefined };

const ungoverned: Permission = { kind: 'ungoverned' };

/**
 * Pods that rollouts take, as the budgets and their ledgers have them: each budget over a pod must allow it (W-19), and what one
 * allows is stored in its ledger before the pod goes, so that no eviction in another zone passes at the same time (D-37). A
 * budget that is a dry run binds nothing; one that allows nothing binds evictions only, as those of groups do.
 */
export class JudgedZoneRollouts {
  readonly #ports: ZoneRolloutPorts;

  constructor(ports: ZoneRolloutPorts) {
    this.#ports = ports;
  }

  /**
   * Returns the budgets as the capability `name` asks them: what others want and have under way by the same keys is not its
   * own.
   */
  of(name: string): GroupBudgets {
    const { intents, inView } = this.#ports;
    return {
      proof: (key) => this.#proof(namespaceOf(key)),
      look: (key, signal) => inView.look(namespaceOf(key), signal),
      judge: (wanted, now) => this.#judge(wanted, now),
      ask: (wanted, signal) => this.#ask(wanted, signal),
      wants: (key, uids) => intents.wants(name, key, uids),
      follow: (underWay) => intents.follow(name, underWay),
    };
  }

  #proof(namespace: string): BudgetProof {
    const provenAt = this.#ports.inView.provenAt(namespace);
    return provenAt === undefined ? { kind: 'unproven' } : { kind: 'proven', provenAt };
  }

  #judge(wanted: readonly WantedDisruption[], now: Instant): readonly Permission[] {
    const said = new Map<WantedDisruption, Permission[]>();
    for (const one of wanted) said.set(one, this.#unreadable(one));
    for (const { budget, spec, pods } of this.#binding(wanted)) {
      const questions = pods.map(
        ({ pod, by, maxUnavailable }): Wanted => ({
          pod,
          by,
          override: overrideOf(maxUnavailable),
        }),
      );
      const moment = this.#ports.ledgers.of(budget, spec).moment(now);
      for (const [index, permission] of permissionsOn(moment, questions).entries()) {
        const one = pods[index];
        if (one !== undefined) said.get(one)?.push(permission);
      }
    }
    return wanted.map((one) => strictestOf(said.get(one) ?? [ungoverned]));
  }

  async #ask(wanted: readonly WantedDisruption[], signal: AbortSignal): Promise<void> {
    const term = this.#ports.term();
    if (term === undefined) return;
    const binding = this.#binding(wanted);
    await this.#proveNodes(binding, signal);
    await Promise.all(
      binding.map(async ({ budget, spec, pods }) => {
        const requests = pods.map(
          ({ pod, by, maxUnavailable }): DisruptionRequest => ({
            pod,
            asking: { by, term },
            override: overrideOf(maxUnavailable),
          }),
        );
        const prove: AskOptions['prove'] = (within, since) =>
          this.#ports.views.prove(budget.namespace, within, since);
        const ledger = this.#ports.ledgers.of(budget, spec);
        const answers = await askLedger(ledger, requests, { prove, signal });
        if (answers.some(({ kind }) => kind === 'allowed')) this.#ports.onGiven(budget);
      }),
    );
  }

  /** Reads the nodes by which is judged. @throws UnshownZoneError where a node is in another zone than its cache shows: nothing is asked for then */
  async #proveNodes(asked: readonly Asked[], signal: AbortSignal): Promise<void> {
    const { clock, standings, nodeZones } = this.#ports;
    const nodes = asked.flatMap(({ budget, spec, pods }) => {
      const { standing } = standings.of(budget, spec, clock.now());
      return pods.flatMap(({ pod }) => [...judgedNodes(pod, standing)]);
    });
    await nodeZones.read(nodeZones.unproven(new Set(nodes), clock.monotonic()), signal);
  }

  /** Returns what each budget that can be read is asked for, in the order of `wanted`. */
  #binding(wanted: readonly WantedDisruption[]): readonly Asked[] {
    const found = new Map<string, Asked & { readonly pods: WantedDisruption[] }>();
    for (const one of wanted) {
      for (const budget of this.#ports.inView.over(one.pod)) {
        const { parsed } = budget;
        if (parsed.kind === 'invalid' || parsed.spec.isDryRun) continue;
        const { spec } = parsed;
        getOrAdd(found, budget.uid, () => ({ budget, spec, pods: [] })).pods.push(one);
      }
    }
    return [...found.values()];
  }

  /** Returns the answers of a budget that cannot be read: it is unknown what it would say. */
  #unreadable({ pod }: WantedDisruption): Permission[] {
    return this.#ports.inView.over(pod).flatMap(({ name, parsed }): Permission[] => {
      if (parsed.kind === 'valid') return [];
      const { path, message } = parsed.problem;
      const text = `the ZoneDisruptionBudget ${name} cannot be read: ${path} ${message}`;
      return [{ kind: 'unclear', message: text, until: undefined }];
    });
  }
}

function overrideOf(maxUnavailable: number): number {
  return rolloutOverride(mode, maxUnavailable);
}

/** Returns the namespace, by which keys of resources begin. */
function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}
