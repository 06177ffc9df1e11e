import type { Clock } from '#base/clock.ts';
import { minutes } from '#base/units.ts';
import { type ApiError, isForbidden } from '../transport/api-error.ts';
import { MissingNamespace } from './event-series.ts';

/** A namespace that did not exist is tried again after this time; it may have been made. */
const MISSING_LASTS = minutes(10);
/**
 * A namespace that forbade Events is tried once more after this time: until its RBAC caches are filled, an API server
 * that has just started forbids what it will allow.
 */
const FORBIDDEN_LASTS = minutes(1);

/** The namespaces in which Events cannot be written, as failed writes have shown (D-1). */
export class EventRefusals {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Until when the refusal is believed. */
  readonly #refused = new Map<string, number>();
  /** Namespaces that have forbidden Events and not taken one since. */
  readonly #forbade = new Set<string>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns how many namespaces refused the last Event that they were sent. */
  get count(): number {
    return this.#refused.size;
  }

  /** Reports whether an Event in `namespace` is not worth a request now. */
  isRefused(namespace: string): boolean {
    const until = this.#refused.get(namespace);
    return until !== undefined && this.#clock.monotonic() < until;
  }

  /** Notes that `namespace` took an Event. @returns whether it had refused the last one */
  accepted(namespace: string): boolean {
    this.#forbade.delete(namespace);
    return this.#refused.delete(namespace);
  }

  /** Returns what the failure of a write in `namespace` says: that it refuses Events, again or still, or nothing about it. */
  failed(namespace: string, error: Error): 'refuses' | 'still refuses' | 'no refusal' {
    const lasts = this.#lasts(namespace, error);
    if (lasts === undefined) return 'no refusal';
    const isKnown = this.#refused.has(namespace);
    this.#refused.set(namespace, this.#clock.monotonic() + lasts);
    return isKnown ? 'still refuses' : 'refuses';
  }

  /** Returns how long a refusal lasts, in milliseconds; undefined for what is no refusal. */
  #lasts(namespace: string, error: Error): number | undefined {
    if (error instanceof MissingNamespace) return MISSING_LASTS;
    if (!isForbidden(error) || isTerminating(error)) return undefined;
    if (this.#forbade.has(namespace)) return Number.POSITIVE_INFINITY;
    this.#forbade.add(namespace);
    return FORBIDDEN_LASTS;
  }
}

/** Reports whether `error` says that the namespace is being deleted, which accepts no new Event: that passes. */
function isTerminating(error: ApiError): boolean {
  return JSON.stringify(error.details['causes'] ?? []).includes('NamespaceTerminating');
}
