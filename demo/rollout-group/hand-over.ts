import { type Millis, millis } from '#base/units.ts';
import { secondsText } from '../observer/facts.ts';
import type { ZoneView } from '../observer/zone-view.ts';
import type { DemoOperator } from './operators.ts';
import type { PlayOptions } from './play.ts';
import { shortenedSentence } from './short-times.ts';

/** How one operator came to go on where another one ended. */
export interface Succession {
  readonly from: string;
  readonly to: string;
  /** Whether the Lease said that the first had ended with all its requests answered. */
  readonly isClean: boolean;
  /** From the end of the one until the Lease named the other. */
  readonly ledAfter: Millis;
  /** From the end of the one until the other deleted its first pod. */
  readonly deletedAfter: Millis;
  /** Whether the other kept something back for the sake of the first. */
  readonly hasWaited: boolean;
}

/** What came of a leader that was stopped and of one that was killed. */
export interface HandOver {
  readonly stop: Succession;
  readonly crash: Succession;
  /** Pods of the group. */
  readonly pods: number;
}

type Until = (what: string, test: () => boolean) => Promise<Millis>;

/**
 * Stops, in the middle of a rollout, the operator that leads, in good order, and later kills the one that leads then; shows
 * who goes on, when, and what is waited for.
 *
 * @param until waits for what the API server stores
 */
export async function playHandOver(options: PlayOptions, until: Until): Promise<HandOver> {
  const { stage } = options;
  const { operators, observer } = stage;
  stage.note('', shortenedSentence);
  const pods = observer.podCount;
  if (operators.alive.length < 2) startNext(options);
  await until('the rollout is under way', () => updatedPods(observer.zones) > 0);
  const stop = await succeed(options, until, endInGoodOrder);
  startNext(options);
  await until('half of the pods are updated', () => updatedPods(observer.zones) * 2 >= pods);
  const crash = await succeed(options, until, endByCrash);
  return { stop, crash, pods };
}

/** Ends an operator at once, and reports it. */
type End = (options: PlayOptions, leader: DemoOperator) => void;

const endInGoodOrder: End = ({ stage, onPhase }, leader) => {
  onPhase(`${leader.name} leads, and is stopped in good order (SIGTERM)`, stage.elapsed);
  // If it fails, those that wait for something hear of it.
  void leader.stop();
};

const endByCrash: End = ({ stage, onPhase }, leader) => {
  leader.kill();
  onPhase(`${leader.name} leads, and is killed (SIGKILL): it gives nothing up`, stage.elapsed);
  // No plan of it will come any more.
  stage.narrator.flush();
};

/** Starts the next operator, as a Deployment puts another pod in the place of one that is gone. */
function startNext({ stage }: PlayOptions): void {
  const { name } = stage.operators.start(`operator-${stage.operators.count + 1}`);
  stage.note('', `${name} is started as the second replica`);
}

async function succeed(options: PlayOptions, until: Until, end: End): Promise<Succession> {
  const { stage } = options;
  const { operators, observer } = stage;
  const { proof } = observer;
  const first = operators.leader;
  if (first === undefined) throw new Error('Cannot end the leader: no operator leads');
  const endedAt = stage.elapsed;
  end(options, first);
  const isSucceeded = (): boolean => operators.leader !== undefined && operators.leader !== first;
  const ledAt = await until(`another operator leads than ${first.name}`, isSucceeded);
  // What the first had sent is among these: in one process nothing stays on its way for seconds.
  const before = proof.deletions;
  const next = operators.leader ?? first;
  const isClean = operators.hasEndedWell(first);
  const ledAfter = millis(ledAt - endedAt);
  stage.note('', ledText({ from: first.name, to: next.name, ledAfter, isClean }));
  const deletedAt = await until(`${next.name} goes on`, () => proof.deletions > before);
  const deletedAfter = millis(deletedAt - endedAt);
  const hasWaited = next.awaited !== undefined;
  return { from: first.name, to: next.name, isClean, ledAfter, deletedAfter, hasWaited };
}

function ledText({
  from,
  to,
  ledAfter,
  isClean,
}: Pick<Succession, 'from' | 'to' | 'ledAfter' | 'isClean'>): string {
  const led = `${to} leads, ${secondsText(ledAfter)} after the end of ${from}`;
  return isClean
    ? `${led}; the Lease says that all requests of ${from} were answered: nothing is waited for`
    : `${led}; the Lease names what ${from} may have under way: nothing else is waited for`;
}

function updatedPods(zones: readonly ZoneView[]): number {
  const cells = zones.flatMap((zone) => zone.cells);
  return cells.filter(({ isUpdated, state }) => isUpdated && state === 'ready').length;
}
