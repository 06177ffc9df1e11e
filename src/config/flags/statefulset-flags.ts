import { minutes } from '#base/units.ts';
import { type ConsulFlags, consulFlags } from '../consul-config.ts';
import { boolKind, durationKind, stringKind } from './flag-kind.ts';
import type { Flag, FlagSet } from './go-flags.ts';
import { type OutsideFlags, outsideFlags } from './outside-flags.ts';

/** The flags of `statefulset-rollout` whose names nothing else has; the program that runs everything takes them, too. */
export type StatefulsetFlags = ReturnType<typeof rolloutFlags> & OutsideFlags & ConsulFlags;

/** Adds those flags to `set`: what is added here, both programs know. */
export function statefulsetFlags(set: FlagSet): StatefulsetFlags {
  return { ...rolloutFlags(set), ...outsideFlags(set), ...consulFlags(set) };
}

function rolloutFlags(set: FlagSet) {
  return {
    watchedNamespace: set.add('watch-namespace', stringKind, {
      default: '',
      help: 'The only namespace in which StatefulsetRollouts are carried out. When empty: all of them.',
    }),
    partialAging: set.add('partial-rollout-aging', durationKind, {
      default: minutes(1_440),
      help: 'Age from which a rollout that is left partial is reported daily; 0 for never.',
    }),
    isPinAssumed: set.add('pin-assume-patched', boolKind, {
      default: false,
      help: 'Pin pods before Kubernetes 1.29, too: assume that its StatefulSet controller has the fix of kubernetes/kubernetes 120731.',
    }),
  } as const;
}

/**
 * Returns what is wrong with `flags` where `namespace` is the one that is served, for StatefulsetRollouts as for all else;
 * undefined where nothing is.
 */
export function problemOfStatefulsetFlags(
  { watchedNamespace }: StatefulsetFlags,
  namespace: Flag<string>,
): string | undefined {
  const { name, isGiven, value } = watchedNamespace;
  if (!isGiven || value === namespace.value) return undefined;
  const wanted = value === '' ? 'all namespaces' : value;
  return `-${name} must be that of -${namespace.name}, the one namespace that is served: got ${wanted} and ${namespace.value}`;
}
