import type { PodNews } from './rollout-news.ts';

/** How far one pod has come, in the order in which a page counts them. */
export type PodState =
  | 'done'
  | 'leaked'
  | 'undiscovered'
  | 'starting'
  | 'restarting'
  | 'failing'
  | 'unready'
  | 'waiting';

/** How a state is shown. */
interface StateLook {
  readonly symbol: string;
  readonly words: string;
}

const looks: Readonly<Record<PodState, StateLook>> = {
  done: { symbol: '✅', words: 'ready' },
  leaked: { symbol: '💧', words: 'on the new version before its turn' },
  undiscovered: { symbol: '🔎', words: 'ready, not in service discovery yet' },
  starting: { symbol: '🔄', words: 'starting' },
  restarting: { symbol: '♻️', words: 'restarting' },
  failing: { symbol: '🔴', words: 'failing' },
  unready: { symbol: '🟠', words: 'to go, not ready' },
  waiting: { symbol: '⚪', words: 'to go' },
};

/** Every state, in the order in which a page counts them. */
export const podStates: readonly PodState[] = [
  'done',
  'leaked',
  'undiscovered',
  'starting',
  'restarting',
  'failing',
  'unready',
  'waiting',
];

/** Returns how far `pod` has come. */
export function podStateOf(pod: PodNews): PodState {
  return pod.isUpdated ? newState(pod) : oldState(pod);
}

function newState({ isReady, isDiscovered, isLeaked, message }: PodNews): PodState {
  if (!isReady) return message === '' ? 'starting' : 'failing';
  if (isLeaked) return 'leaked';
  return isDiscovered === false ? 'undiscovered' : 'done';
}

function oldState({ isReady, isRotated }: PodNews): PodState {
  if (isRotated) return 'restarting';
  return isReady ? 'waiting' : 'unready';
}

/** Returns how `state` is shown. */
export function stateLookOf(state: PodState): StateLook {
  return looks[state];
}
