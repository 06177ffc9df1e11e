import type { JsonObject } from '#base/json.ts';
import type { Commit } from '#cluster/event-log.ts';
import { type PodFacts, podFacts, type SetFacts, setFacts } from '../../history/facts.ts';
import { type Domain, domainOf, type History, latestView } from '../../history/history.ts';

/** What shows movement. */
export interface MovementOptions {
  readonly history: History;
  readonly ours: (user: string) => boolean;
}

/**
 * Returns the group that `commit` moves, if any: its pods come, go or change readiness or revision, or its sets' spec or
 * revisions change, or we write to one of them.
 */
export function domainMovedBy(commit: Commit, options: MovementOptions): Domain | undefined {
  if (commit.resource === 'statefulsets.apps') return movedSet(commit, options);
  return commit.resource === 'pods' ? movedPod(commit, options) : undefined;
}

function movedPod(commit: Commit, { history }: MovementOptions): Domain | undefined {
  const { after: pod, old } = versions(commit, podFacts);
  if (pod !== undefined && old !== undefined && isSamePod(pod, old)) return undefined;
  const uid = (pod ?? old)?.controllerUid;
  if (uid === undefined) return undefined;
  const set = history.setByUid(uid, latestView(commit.at));
  return set?.group === undefined ? undefined : domainOf(set);
}

function movedSet(commit: Commit, { ours }: MovementOptions): Domain | undefined {
  const { after: set, old } = versions(commit, setFacts);
  if (set?.group === undefined) return undefined;
  const isSame = old !== undefined && isSameSet(set, old) && !ours(commit.user);
  return isSame ? undefined : domainOf(set);
}

function versions<Facts>(
  commit: Commit,
  read: (object: JsonObject) => Facts,
): { readonly after: Facts | undefined; readonly old: Facts | undefined } {
  return {
    after: commit.after === undefined ? undefined : read(commit.after),
    old: commit.before === undefined ? undefined : read(commit.before),
  };
}

function isSamePod(one: PodFacts, other: PodFacts): boolean {
  return (
    one.ready === other.ready &&
    one.readySince === other.readySince &&
    one.isTerminating === other.isTerminating &&
    one.revision === other.revision
  );
}

function isSameSet(one: SetFacts, other: SetFacts): boolean {
  return (
    one.target === other.target &&
    one.replicas === other.replicas &&
    one.isPaused === other.isPaused
  );
}
