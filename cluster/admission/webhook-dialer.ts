import type { WebhookReply } from './webhook-hosts.ts';

/** A review that goes over the network. */
export interface DialledCall {
  /** Where the connection goes. */
  readonly address: { readonly host: string; readonly port: number };
  /** Whom the certificate must name, and the Host header. */
  readonly serverName: string;
  readonly port: number;
  /** With query. */
  readonly path: string;
  readonly body: string;
  /** PEM; undefined: what the system trusts. */
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
}

/** The way to webhooks outside this process. */
export interface WebhookDialer {
  /**
   * Posts a review.
   *
   * @throws {Error} whose message is what Go's client says, such as `dial tcp 127.0.0.1:1: connect: connection refused`
   */
  post(call: DialledCall): Promise<WebhookReply>;
  /** Ends the idle connections. */
  close(): void;
}

/** In virtual time there is no network: every unregistered host is unknown (CK-5). */
export const noNetwork: WebhookDialer = Object.freeze({
  post: (call: DialledCall): Promise<WebhookReply> =>
    Promise.reject(
      new Error(
        `dial tcp: lookup ${call.address.host}: no such host (in virtual time webhooks are registered by host)`,
      ),
    ),
  close: () => undefined,
});
