import type { NewsPhase } from './rollout-news.ts';

/** How a phase is shown. */
export interface PhaseLook {
  readonly symbol: string;
  /** Begins with a capital. */
  readonly word: string;
}

const looks: Readonly<Record<NewsPhase, PhaseLook>> = {
  Pending: { symbol: '⏳', word: 'Starting' },
  CreatingStatefulSet: { symbol: '🌱', word: 'Creating' },
  UpdatingStatefulSet: { symbol: '📝', word: 'Updating the set' },
  RollingOut: { symbol: '🔄', word: 'Rolling out' },
  WaitingForReady: { symbol: '⏳', word: 'Waiting for pods' },
  WaitingForServiceDiscovery: { symbol: '🔎', word: 'Waiting for service discovery' },
  Paused: { symbol: '⏸️', word: 'Paused' },
  CallingBack: { symbol: '📣', word: 'Reporting the outcome' },
  RolloutDone: { symbol: '✅', word: 'Done' },
  RolloutFailed: { symbol: '❌', word: 'Failed' },
  Deleting: { symbol: '🗑️', word: 'Deleting' },
};

/** Returns how `phase` is shown. */
export function lookOf(phase: NewsPhase): PhaseLook {
  return looks[phase];
}
