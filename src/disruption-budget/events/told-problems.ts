import type { Clock, Timer } from '#base/clock.ts';
import type { Logger } from '#base/logger.ts';
import { type Monotonic, minutes, seconds } from '#base/units.ts';
import type { EventRecorder } from '#kubernetes/events/event-recorder.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import type { BudgetMetrics, BudgetTrouble } from '#telemetry/metrics/budget-metrics.ts';
import type { BudgetFault } from './plan-problems.ts';

/** What {@link ToldProblems} go through. */
export interface ToldProblemPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: Pick<BudgetMetrics, 'showProblems'>;
  /** Returns what is wrong with budgets right now. */
  faults(): readonly BudgetFault[];
}

/** How soon after a change it is looked, so that one look sees what changes together. */
const soon = seconds(1);
/** How soon it is checked again without a notice of a change. */
const again = seconds(30);
/** How long what lasts is not reported again (D-54). */
const unchangedFor = minutes(10);

const troubles: Readonly<Record<BudgetFault['why']['reason'], BudgetTrouble | undefined>> = {
  BudgetUnreadable: 'unreadable',
  BudgetsOverlap: 'overlap',
  BudgetNeverMet: 'never-met',
  BudgetLedgerUnknown: 'ledger-unreadable',
  BudgetRefused: undefined,
  BudgetUnclear: undefined,
};

const { group, version, kind } = resourceTypes.zoneAwarePodDisruptionBudgets;

/** Tells what is wrong with disruption budgets: a gauge while it is, an Event and a log line when it begins, and while it lasts. */
export class ToldProblems {
  readonly #ports: ToldProblemPorts;
  /** What was reported, and when, by the uid of the budget and the reason. */
  readonly #told = new Map<string, { readonly message: string; readonly at: Monotonic }>();
  #timer: Timer | undefined;
  #isSoon = false;

  constructor(ports: ToldProblemPorts) {
    this.#ports = ports;
  }

  /** Notes that something about budgets may have changed. */
  wake(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#arm(soon);
  }

  /** Ends the reports. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isSoon = true;
    this.#ports.metrics.showProblems([]);
  }

  #arm(delay: typeof soon): void {
    this.#timer?.cancel();
    const options = { owner: 'problems of disruption budgets', background: true };
    this.#timer = this.#ports.clock.timer(delay, () => this.#look(), options);
  }

  #look(): void {
    this.#isSoon = false;
    const faults = this.#ports.faults();
    this.#ports.metrics.showProblems(
      faults.flatMap(({ budget: { namespace, name }, why }) => {
        const problem = troubles[why.reason];
        return problem === undefined ? [] : { namespace, budget: name, problem };
      }),
    );
    for (const fault of faults) this.#tell(fault);
    const present = new Set(faults.map(keyOf));
    for (const key of this.#told.keys()) if (!present.has(key)) this.#told.delete(key);
    // Pods, labels and ledgers may cause a problem, or solve it, without a notice.
    this.#arm(again);
  }

  #tell(fault: BudgetFault): void {
    const { clock, log, events } = this.#ports;
    const now = clock.monotonic();
    const { namespace, name, uid } = fault.budget;
    const { reason, message } = fault.why;
    const told = this.#told.get(keyOf(fault));
    if (told !== undefined && told.message === message && now - told.at < unchangedFor) return;
    this.#told.set(keyOf(fault), { message, at: now });
    log.warn('disruption budget needs attention', {
      namespace,
      budget: name,
      reason,
      because: message,
    });
    const about = { apiVersion: `${group}/${version}`, kind, namespace, name, uid };
    events.record({ about, type: 'Warning', reason, message });
  }
}

function keyOf({ budget: { uid }, why: { reason } }: BudgetFault): string {
  return `${uid} ${reason}`;
}
