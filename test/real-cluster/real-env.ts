/** What scenarios may ask of a namespace of a real cluster. */
import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import type { Change, Env, EnvOptions } from '../scenarios/env.ts';
import type { AuditEntry } from './audit/audit.ts';
import type {
  INSTALLED_NAMESPACES,
  OperatorAccount,
  RoleName,
} from './control-plane/operator-account.ts';
import type { LateWrite } from './late-proxy.ts';
import type { OnOperatorWrite, OperatorProgram, RealOperator } from './operator-runs.ts';

/** What differs on a real cluster. */
export interface RealEnvOptions extends EnvOptions {
  /** @default ours */
  readonly role?: RoleName;
  /** Whether the operator may do what webhooks take. @default false */
  readonly hasWebhooks?: boolean;
  /**
   * What operators that are killed had sent arrives up to 5 s later, as this seed says (D-57). Needs `disturbance`.
   * @default it is lost, or was processed already
   */
  readonly latenessSeed?: number;
  /** Told of each such write of an operator, whether it is late or not. */
  readonly onWrite?: OnOperatorWrite;
  /** What operators run. @default the sources */
  readonly program?: OperatorProgram;
  /** Something that is installed brings the account and what it may do. Needs a plane of ours. @default as `role` says */
  readonly installed?: Installed;
}

/** Something that is installed into a namespace of its own. */
export interface Installed {
  /** One of those whose accounts the audit log has. */
  readonly namespace: (typeof INSTALLED_NAMESPACES)[number];
  /** Installs it, and asks for the token of its account. */
  readonly install: (admin: Client) => Promise<OperatorAccount>;
}

/** What a real cluster offers beyond an {@link Env}. */
export interface RealEnv extends Env {
  readonly role: RoleName;
  /** As whom operators work here. */
  readonly user: string;
  /** Calls `listener` at each change of the namespace, once it is stored. @returns a function that ends that */
  onCommit(listener: (change: Change) => void): () => void;
  /** What the API server wrote down of this operator. */
  audit(): Promise<readonly AuditEntry[]>;
  /** Uids of the pods whose removal the history ascribes to the operator. */
  removedByOperator(): Promise<ReadonlySet<string>>;
  /** Lines of all operators' logs so far. */
  readonly log: readonly JsonObject[];
  /** What killed operators had sent, and what became of it so far. */
  readonly lateWrites: readonly LateWrite[];
  /** Resolves when nothing that an operator sent is on its way any more. */
  untilNothingIsLate(): Promise<void>;
  /** Starts another operator with more flags and environment; resolves when it is ready. */
  startOperatorWith(
    flags: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<RealOperator>;
}
