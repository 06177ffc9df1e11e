import type { Logger } from '#base/logger.ts';
import type { SetSnapshot } from '#control/watch/group-sets.ts';
import { MINIMUM_TIME } from '#statefulset/last-downscale.ts';
import { hasMinimumTimeLabel } from './api.ts';

/** Warns once a process, as the peer does, of a minimum time that is in a label: the peer is going to stop reading it there. */
export class LabelNotice {
  readonly #log: Logger;
  #isGiven = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Looks for such a label on `sets`, until one was found. */
  look(sets: readonly SetSnapshot[]): void {
    if (this.#isGiven) return;
    const found = sets.find(({ set }) => hasMinimumTimeLabel(set));
    if (found === undefined) return;
    this.#isGiven = true;
    const { namespace, name: statefulset } = found.set;
    const fields = {
      namespace,
      statefulset,
      label: MINIMUM_TIME,
      instead: 'an annotation of that name',
    };
    this.#log.warn('a label is deprecated', fields);
  }
}
