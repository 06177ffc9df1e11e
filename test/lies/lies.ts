import type { EmbeddedCluster } from '#cluster/create-cluster.ts';
import { budgetLies } from './budget-lies.ts';
import type { Lie } from './lie.ts';
import { readLies } from './read-lies.ts';
import { setLies } from './set-lies.ts';
import { shapeLies } from './shape-lies.ts';
import { webhookLies } from './webhook-lies.ts';
import { writeLies } from './write-lies.ts';

/** Every switch, by a sentence that says what the cluster does when it is on. */
export const lies: Readonly<Record<string, Lie>> = {
  ...writeLies,
  ...readLies,
  ...shapeLies,
  ...setLies,
  ...budgetLies,
  ...webhookLies,
};

/** The variable that names the lie to tell. */
export const LIE = 'EMBEDDED_CLUSTER_LIE';

/** Lets `cluster` lie as the environment says; without the variable it stays honest. @throws {Error} for a lie that there is not */
export function tellLie(cluster: EmbeddedCluster): void {
  const name = process.env[LIE];
  if (name === undefined) return;
  const lie = lies[name];
  if (lie === undefined) throw new Error(`${LIE} names "${name}", but there is no such lie`);
  lie.tell(cluster);
}
