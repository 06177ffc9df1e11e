import type { Clock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import type { BedrockPorts } from './bedrock-ports.ts';

/** A cluster that can be asked. */
export interface ClusterAccess {
  readonly client: Client;
  /** For those that name none. */
  readonly namespace: string;
  close(): Promise<void>;
}

/** Which deploy API is called, and with which credentials. */
export interface ApiAddress {
  readonly url: URL;
  /** A path. */
  readonly tokenFile: string;
  /** A path of certificates in PEM. @default those of this host */
  readonly authorityFile: string | undefined;
}

/** An answer of the deploy API. */
export interface ApiReply {
  readonly status: number;
  readonly body: JsonObject;
}

/** One request to the deploy API. */
export interface ApiCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: JsonObject;
}

/** A deploy API that can be asked. */
export interface ApiAccess {
  /** Calls the API. @throws {Error} where there is no answer that can be read */
  call(call: ApiCall, signal: AbortSignal): Promise<ApiReply>;
  close(): Promise<void>;
}

/** What may end a command before it is through. */
export interface Interruption {
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** Listens no more. */
  release(): void;
}

/** What the commands that talk to a cluster need of the outside. */
export interface DrivePorts extends BedrockPorts {
  readonly clock: Clock;
  /** @param kubeconfig a path; undefined: the usual place. @throws {Error} one sentence */
  readonly openCluster: (kubeconfig: string | undefined) => Promise<ClusterAccess>;
  /** @throws {Error} one sentence */
  readonly openApi: (address: ApiAddress) => Promise<ApiAccess>;
  /** Asks the person at the terminal for a yes. Undefined: there is none. @throws when the signal aborts */
  readonly confirm: ((question: string, signal: AbortSignal) => Promise<boolean>) | undefined;
  readonly interruption: () => Interruption;
}
