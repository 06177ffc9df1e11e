import type { Clock, Timer } from '#base/clock.ts';
import { seconds } from '#base/units.ts';

/** What {@link SlackPace} works with. */
export interface SlackPacePorts<T> {
  readonly clock: Pick<Clock, 'timer'>;
  readonly tell: (view: T) => void;
}

/** How a resource looks in messages. */
export interface PacedView<T> {
  readonly uid: string;
  /** Another one is sent at once. */
  readonly mark: string;
  readonly view: T;
}

interface Told<T> {
  readonly mark: string;
  readonly timer: Timer;
  /** What came since then. */
  newest: T | undefined;
}

/** No channel is called more often (C-10). */
const span = seconds(1);

/** Tells how resources look, each once a second at most, and then the newest: to make messages of a thousand pods takes a while. */
export class SlackPace<T extends object> {
  readonly #ports: SlackPacePorts<T>;
  /** What was reported within the last second, by uid. */
  readonly #told = new Map<string, Told<T>>();

  constructor(ports: SlackPacePorts<T>) {
    this.#ports = ports;
  }

  /** Shows a resource as it looks now. */
  show({ uid, mark, view }: PacedView<T>): void {
    const last = this.#told.get(uid);
    if (last?.mark === mark) {
      last.newest = view;
      return;
    }
    last?.timer.cancel();
    const options = { owner: 'next look for Slack', background: true };
    const timer = this.#ports.clock.timer(span, () => this.#over(uid), options);
    this.#told.set(uid, { mark, timer, newest: undefined });
    this.#ports.tell(view);
  }

  /** Forgets a resource that is gone: how it looked last is reported at once. */
  forget(uid: string): void {
    const last = this.#told.get(uid);
    if (last === undefined) return;
    last.timer.cancel();
    this.#told.delete(uid);
    if (last.newest !== undefined) this.#ports.tell(last.newest);
  }

  #over(uid: string): void {
    const last = this.#told.get(uid);
    this.#told.delete(uid);
    if (last?.newest !== undefined) this.show({ uid, mark: last.mark, view: last.newest });
  }
}
