import { resolve } from 'node:path';
import { aborted } from '#base/async/aborted.ts';
import type { Clock } from '#base/clock.ts';
import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import { millis, seconds } from '#base/units.ts';
import { refusals } from '#cluster/errors/refusals.ts';
import { textAt } from '#cluster/json/read-json.ts';
import type { Client } from '#kubernetes/client.ts';
import { connect } from '#kubernetes/connect/connection.ts';
import { createClient } from '#kubernetes/http-client.ts';
import { resourceTypes } from '#kubernetes/resource-type.ts';
import { GROUP_LABEL } from '#statefulset/group.ts';
import { createLogger, unbuffered } from '#telemetry/log/line-logger.ts';
import { systemClock } from '#telemetry/system-clock.ts';
import { createAll, exampleFolder, readManifests } from './cluster/apply-manifests.ts';
import { type LocalCluster, startLocalCluster } from './cluster/local-cluster.ts';
import {
  imagePatch,
  isGroupMember,
  nextImage,
  setContainer,
  setImage,
} from './cluster/manifest.ts';
import { delaysAt } from './cluster/timing.ts';
import { type ClusterRoll, type ClusterRun, parseClusterArguments } from './cluster-options.ts';
import { listenForInterruption } from './interruption.ts';
import { factLine } from './observer/facts.ts';
import { GroupObserver } from './observer/group-observer.ts';

/**
 * Runs the embedded cluster alone until it is interrupted, or changes the image of one that runs.
 *
 * @param args the arguments after `cluster`
 * @returns the exit code: 0 after a signal or a change, 1 when something failed, 2 for bad arguments
 */
export async function clusterCommand(args: readonly string[]): Promise<number> {
  const parsed = parseClusterArguments(args);
  if (parsed.kind === 'exit') {
    (parsed.code === 0 ? process.stdout : process.stderr).write(parsed.text);
    return parsed.code;
  }
  try {
    if (parsed.kind === 'roll') await rollGroups(parsed.options);
    else await runCluster(parsed.options);
    return 0;
  } catch (error) {
    process.stderr.write(`${errorOf(error).message}\n`);
    return 1;
  }
}

async function runCluster(options: ClusterRun): Promise<void> {
  const interruption = listenForInterruption();
  try {
    const manifests = options.isApplied
      ? await readManifests(options.folder === undefined ? exampleFolder : resolve(options.folder))
      : [];
    const clock = systemClock();
    const cluster = await startLocalCluster({
      clock,
      log: createLogger({ format: 'logfmt', level: 'warn', clock, sink: unbuffered(writeError) }),
      delays: delaysAt(options.speed),
      port: options.port,
      kubeconfig: options.kubeconfig === undefined ? undefined : resolve(options.kubeconfig),
    });
    try {
      narrate(cluster, clock, manifests.filter(isGroupMember));
      await createAll(cluster.client, manifests);
      writeLines(introduction(cluster, manifests.find(isGroupMember)));
      await aborted(interruption.signal);
    } finally {
      await cluster.close();
    }
  } finally {
    interruption.release();
  }
}

/** Prints what happens to the pods of `sets`, one line a fact. */
function narrate(cluster: LocalCluster, clock: Clock, sets: readonly JsonObject[]): void {
  const [first] = sets;
  if (first === undefined) return;
  const observer = new GroupObserver({
    namespace: namespaceOf(first),
    sets: sets.map((set) => textAt(set, 'metadata', 'name')),
    onFact: (fact) => writeLines([factLine(fact)]),
  });
  const startedAt = clock.monotonic();
  cluster.eventLog.onCommit((commit) => {
    observer.observe(commit, millis(clock.monotonic() - startedAt));
  });
}

/** Returns what a person can do now. `set`: a member of a group on the cluster. */
function introduction(
  { url, kubeconfig }: LocalCluster,
  set: JsonObject | undefined,
): readonly string[] {
  const lines = ['', `cluster at ${url}`, `export KUBECONFIG=${kubeconfig}`];
  const end = [...refusedCommands(), 'Ctrl-C ends the cluster and removes the kubeconfig.', ''];
  if (set === undefined) return [...lines, '', ...end];
  const namespace = namespaceOf(set);
  return [
    ...lines,
    '',
    'The operator, from a second terminal:',
    `  npm run do -- operator -kubernetes.config-file=${kubeconfig} -kubernetes.namespace=${namespace}`,
    'A new image for every zone, from a third one; the first way needs nothing but this checkout:',
    `  npm run do -- cluster --kubeconfig=${kubeconfig} --roll=next`,
    `  kubectl -n ${namespace} set image statefulset -l ${GROUP_LABEL} ${setContainer(set)}=${nextImage(setImage(set))}`,
    '',
    ...end,
  ];
}

/** Returns what kubectl is refused here, whatever the manifests. */
function refusedCommands(): readonly string[] {
  return [
    'Pods are simulated, and no Role is enforced. What cannot be answered without containers is refused, with the reason:',
    ...refusals.map(({ commands, instead }) => `  kubectl ${commands.join(', ')}: ${instead}`),
  ];
}

function namespaceOf(set: JsonObject): string {
  return textAt(set, 'metadata', 'namespace') || 'default';
}

/** Gives every StatefulSet of a group another image. */
async function rollGroups({ image, kubeconfig }: ClusterRoll): Promise<void> {
  const clock = systemClock();
  // Loaded here only: it brings the official client's library with it.
  const { kubeconfigSettings } = await import('#kubernetes/connect/kubeconfig.ts');
  const settings = await kubeconfigSettings({ clock, path: resolve(kubeconfig) });
  const transport = connect(settings, { clock, env: process.env });
  try {
    const timeout = seconds(10);
    await rollWith(createClient({ transport, clock, timeout, userAgent: 'demo' }), image);
  } finally {
    await transport.close();
  }
}

async function rollWith(client: Client, wanted: string): Promise<void> {
  const { items } = await client.list(resourceTypes.statefulSets, { labelSelector: GROUP_LABEL });
  if (items.length === 0) throw new Error(`Cannot roll: no StatefulSet has a label ${GROUP_LABEL}`);
  for (const set of items) {
    const { name, namespace = 'default' } = set.metadata;
    const before = setImage(set);
    const image = wanted === 'next' ? nextImage(before) : wanted;
    const body = { kind: 'strategic', document: imagePatch(set, image) } as const;
    await client.patch(resourceTypes.statefulSets, { namespace, name }, { body });
    writeLines([`${namespace}/${name}: ${before} -> ${image}`]);
  }
}

function writeLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

function writeError(line: string): void {
  process.stderr.write(`${line}\n`);
}
