import { errorOf } from '#base/error-of.ts';
import type { JsonObject } from '#base/json.ts';
import type { Millis } from '#base/units.ts';
import { objectField, textField } from '../json/json-fields.ts';
import type { ServerContext } from '../rest/request/server-context.ts';
import { CallFailure } from './call-failure.ts';
import type { WebhookDialer } from './webhook-dialer.ts';
import type { WebhookHosts, WebhookReply } from './webhook-hosts.ts';
import { targetOf, type WebhookTarget } from './webhook-target.ts';

/** Sends reviews to webhooks, in this process or over the network, and waits no longer than it may (AD-8). */
export class WebhookCaller {
  readonly #context: Pick<ServerContext, 'clock' | 'store'>;
  readonly #hosts: WebhookHosts;
  readonly #dialer: WebhookDialer;

  constructor(
    context: Pick<ServerContext, 'clock' | 'store'>,
    ways: { readonly hosts: WebhookHosts; readonly dialer: WebhookDialer },
  ) {
    this.#context = context;
    this.#hosts = ways.hosts;
    this.#dialer = ways.dialer;
  }

  /**
   * Asks for the answer of the webhook at `client` (a `clientConfig`).
   *
   * @throws {CallFailure} where there is none within `timeout`
   */
  async post(client: JsonObject, body: string, timeout: Millis): Promise<WebhookReply> {
    const target = located(client);
    const query = `?timeout=${Math.ceil(timeout / 1_000)}s`;
    const ending = new AbortController();
    const late = Promise.withResolvers<never>();
    const timer = this.#context.clock.timer(
      timeout,
      () => {
        late.reject(new Error('context deadline exceeded'));
        ending.abort();
      },
      { owner: 'webhook timeout' },
    );
    try {
      const answer = this.#send(target, { path: `${target.path}${query}`, body }, ending.signal);
      return await Promise.race([answer, late.promise]);
    } catch (error) {
      const why = errorOf(error).message;
      const failed = `failed to call webhook: Post "${target.url}${query}": ${why}`;
      throw new CallFailure(failed, { cause: error });
    } finally {
      timer.cancel();
    }
  }

  async #send(
    target: WebhookTarget,
    { path, body }: { readonly path: string; readonly body: string },
    signal: AbortSignal,
  ): Promise<WebhookReply> {
    const { host, port, ca } = target;
    const handler = this.#hosts.find(host, port);
    if (handler !== undefined) return handler({ path, body });
    const address = this.#addressOf(target);
    return this.#dialer.post({ address, serverName: host, port, path, body, ca, signal });
  }

  /** Returns where a Service leads, which has to be an ExternalName: there is no cluster network here (D-31). */
  #addressOf({ host, port, service }: WebhookTarget): { host: string; port: number } {
    if (service === undefined) return { host, port };
    const { namespace, name } = service;
    const stored = this.#context.store.collection('services').get(`${namespace}/${name}`);
    if (stored === undefined) throw new Error(`service "${name}" not found`);
    const spec = objectField(stored.object, 'spec');
    const type = textField(spec, 'type');
    if (type === 'ExternalName') return { host: textField(spec, 'externalName'), port };
    throw new Error(
      `the embedded cluster has no network behind Service ${namespace}/${name} of type ${type}: make it an ExternalName`,
    );
  }
}

function located(client: JsonObject): WebhookTarget {
  try {
    return targetOf(client);
  } catch (error) {
    const why = errorOf(error).message;
    throw new CallFailure(`could not get REST client: ${why}`, { cause: error });
  }
}
