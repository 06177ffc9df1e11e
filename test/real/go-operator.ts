/** The Go program beside test/real-cluster: it is started here, and rolls a group in the manner of the peer. */
import assert from 'node:assert/strict';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { objectsAt, textAt } from '#embedded-cluster/controllers/read-json.ts';
import { findBinaries, managerName } from '../real-cluster/binaries.ts';
import type { Program, Programs } from '../real-cluster/programs.ts';
import { NO_MANAGER } from '../real-cluster/skip-reasons.ts';
import type { Change, Env } from '../scenarios/env.ts';
import { type Group, images, isComplete, setImage, setName } from '../scenarios/group.ts';

/** How the Go program reaches a cluster, and where it runs. */
export interface Place {
  readonly namespace: string;
  /** With the rights of an administrator. */
  readonly kubeconfig: string;
  readonly programs: Programs;
}

async function managerPath(): Promise<string | undefined> {
  const { folder } = await findBinaries({ env: process.env, say: () => undefined });
  const path = join(folder, await managerName());
  return access(path).then(
    () => path,
    () => undefined,
  );
}

/** Starts the Go program with more `flags`; undefined where there is none, and then `context` is skipped. */
export async function startManager(
  context: TestContext,
  { namespace, kubeconfig, programs }: Place,
  { flags, onLine }: { readonly flags: readonly string[]; onLine?: (line: string) => void },
): Promise<Program | undefined> {
  const path = await managerPath();
  if (path === undefined) {
    context.skip(NO_MANAGER);
    return undefined;
  }
  const file = join(programs.folder, `${namespace}-manager.kubeconfig`);
  await writeFile(file, kubeconfig, { mode: 0o600 });
  const args = [`--kubeconfig=${file}`, `--namespace=${namespace}`, ...flags];
  const name = `${namespace}-manager`;
  return programs.start({ name, path, args, ...(onLine !== undefined && { onLine }) });
}

/** A complete group, and all that happens to it. */
export type WatchedGroup = Group & Pick<Env, 'history' | 'until'>;

/** Gives the group a new image, lets the Go program roll it, and looks at what it did. */
export async function assertGroupRolls(
  context: TestContext,
  group: WatchedGroup,
  place: Place,
): Promise<void> {
  const started = Promise.withResolvers<void>();
  const summary = Promise.withResolvers<string>();
  const onLine = (line: string): void => {
    if (line.includes('Starting workers')) started.resolve();
    if (line.startsWith('reconciled')) summary.resolve(line);
  };
  const flags = ['--roll-group=ingester', '--for=60s'];
  const manager = await startManager(context, place, { flags, onLine });
  if (manager === undefined) return;
  await Promise.race([started.promise, manager.ended]);
  const since = group.history().length;
  await setImage(group, images.new);
  const code = await manager.ended;
  assert.equal(code, 0, await manager.logTail());
  await group.until('all pods run the new image', () => isComplete(group, images.new));
  const { zones, most, removed } = disruption(group, since);
  context.diagnostic(
    `${await summary.promise}; at most ${most} pods of ${zones} zone were unavailable at once`,
  );
  assert.equal(zones, 1);
  assert.equal(most, group.maxUnavailable);
  assert.equal(removed, group.zones.length * group.replicas);
}

interface Disruption {
  /** Zones with an unavailable pod at once, at most. */
  readonly zones: number;
  /** Pods of one zone that were unavailable at once, at most. */
  readonly most: number;
  readonly removed: number;
}

/** What the history of the group's pods shows from the change `since` on. */
function disruption(group: WatchedGroup, since: number): Disruption {
  const { zones, replicas } = group;
  const available = new Set<string>();
  const seen = { zones: 0, most: 0, removed: 0 };
  const unavailableIn = (zone: string): number => {
    const names = Array.from({ length: replicas }, (_, ordinal) => `${setName(zone)}-${ordinal}`);
    return names.filter((name) => !available.has(name)).length;
  };
  for (const [at, change] of group.history().entries()) {
    if (change.resource !== 'pods') continue;
    if (isAvailable(change)) available.add(change.name);
    else available.delete(change.name);
    if (at < since) continue;
    const counts = zones.map(unavailableIn);
    seen.zones = Math.max(seen.zones, counts.filter((count) => count > 0).length);
    seen.most = Math.max(seen.most, ...counts);
    if (change.verb === 'delete') seen.removed += 1;
  }
  return seen;
}

function isAvailable({ after }: Change): boolean {
  return (
    after !== undefined && textAt(after, 'metadata', 'deletionTimestamp') === '' && isReady(after)
  );
}

function isReady(pod: JsonObject): boolean {
  const conditions = objectsAt(pod, 'status', 'conditions');
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
