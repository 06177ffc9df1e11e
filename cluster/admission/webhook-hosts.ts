/** A review on its way to a webhook. */
export interface WebhookCall {
  /** Such as `/validate?timeout=10s`. */
  readonly path: string;
  /** JSON. */
  readonly body: string;
}

/** What a webhook answers. */
export interface WebhookReply {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
}

/** A webhook in this process. What it throws is a failed call. */
export type WebhookHandler = (call: WebhookCall) => Promise<WebhookReply>;

/** Webhooks in this process by host: how they are reached in virtual time, where there are no sockets (CK-5). */
export class WebhookHosts {
  readonly #handlers = new Map<string, WebhookHandler>();

  /**
   * Answers reviews sent to `host` in place of the network: `<service>.<namespace>.svc`, or the host of a URL, with
   * `:port` where it is about one port only. No certificate is looked at.
   *
   * @returns a function that ends it
   */
  register(host: string, handler: WebhookHandler): () => void {
    this.#handlers.set(host, handler);
    return () => {
      if (this.#handlers.get(host) === handler) this.#handlers.delete(host);
    };
  }

  /** Returns the webhook at `host:port`, if it is in this process. */
  find(host: string, port: number): WebhookHandler | undefined {
    return this.#handlers.get(`${host}:${port}`) ?? this.#handlers.get(host);
  }
}
