import { isJsonObject } from '#base/json.ts';
import type { Client } from '#kubernetes/client.ts';
import { isForbidden, isNotFound } from '#kubernetes/transport/api-error.ts';
import { stringAt } from '#statefulset/parse-fields.ts';
import type { PinSupport } from '../snapshot.ts';

/** Before it some releases make pods below a partition again on the new version. */
const firstMinor = 29;

/** Whether the StatefulSet controller of the cluster can pin pods, as its version shows: read once a term, when it is needed. */
export class ServerVersion {
  readonly #client: Client;
  #support: PinSupport;

  /** @param isAssumed whether an administrator says that it can, whatever the version */
  constructor(client: Client, isAssumed: boolean) {
    this.#client = client;
    this.#support = { kind: isAssumed ? 'supported' : 'unknown' };
  }

  /** Returns what is known of it. */
  get support(): PinSupport {
    return this.#support;
  }

  /** Asks the API server. @throws what the request fails with, but for a refusal */
  async read(signal: AbortSignal): Promise<void> {
    this.#support = supportOf(await this.#version(signal));
  }

  async #version(signal: AbortSignal): Promise<string> {
    try {
      const found = await this.#client.raw({ method: 'GET', path: '/version' }, { signal });
      return isJsonObject(found) ? (stringAt(found, 'gitVersion') ?? '') : '';
    } catch (error) {
      if (isForbidden(error) || isNotFound(error)) return '';
      throw error;
    }
  }
}

/** Returns whether a cluster of that version, such as `v1.29.3`, can pin pods. */
export function supportOf(version: string): PinSupport {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  const isNew = Number(major) > 1 || (Number(major) === 1 && Number(minor) >= firstMinor);
  if (isNew) return { kind: 'supported' };
  const told = version === '' ? 'a version that it does not report' : version;
  const message = `Kubernetes 1.${firstMinor} or later is needed, or --pin-assume-patched: the API server has ${told}`;
  return { kind: 'unsupported', message };
}
