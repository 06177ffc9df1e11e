/** The Go program beside test/real-cluster: it is started here, and rolls a group in the manner of the peer. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ownProgramPath } from '../../real-cluster/control-plane/binaries.ts';
import type { Program, Programs } from '../../real-cluster/control-plane/programs.ts';
import { NO_MANAGER } from '../../real-cluster/skip-reasons.ts';
import { images, isComplete, setImage } from '../../scenarios/group.ts';
import { disruption, type WatchedGroup } from './disruption.ts';

/** How the Go program reaches a cluster, and where it runs. */
export interface Place {
  readonly namespace: string;
  /** With the rights of an administrator. */
  readonly kubeconfig: string;
  readonly programs: Programs;
}

/** Starts the Go program with more `flags`; undefined where there is none, and then `context` is skipped. */
export async function startManager(
  context: TestContext,
  { namespace, kubeconfig, programs }: Place,
  { flags, onLine }: { readonly flags: readonly string[]; onLine?: (line: string) => void },
): Promise<Program | undefined> {
  const options = { env: process.env, say: () => undefined };
  const path = await ownProgramPath('kubebuilder-manager', options);
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
