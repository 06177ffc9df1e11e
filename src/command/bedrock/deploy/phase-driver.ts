import type { RolloutEnd } from './rollout-report.ts';

/** How a phase has ended; `lost` where that can never be known. */
export type PhaseEnd = RolloutEnd | { readonly kind: 'lost'; readonly why: string };

/** Carries phases out, one after the other. */
export interface PhaseDriver {
  /**
   * Begins a phase, and resolves once it has ended.
   *
   * @param at its place among the phases that are carried out, from 0
   * @throws the reason of `signal`, which ends the wait and not the rollout
   */
  carryOut(at: number, signal: AbortSignal): Promise<PhaseEnd>;
  close(): Promise<void>;
}
