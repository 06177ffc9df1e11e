import { Agent, request } from 'undici';
import type { KeyPair } from '#certificate/x509/certificate-source.ts';

/** An HTTP answer. */
export interface PostedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** How a {@link WebhookClient} connects. */
export interface WebhookClientOptions {
  /** Connections that are kept open; 0: each request gets its own. @default 1 */
  readonly connections?: number;
  /** Whom the certificate must name. @default `localhost` */
  readonly servername?: string;
  /** What it presents. @default no certificate */
  readonly certificate?: KeyPair;
}

/** Posts to a webhook server on 127.0.0.1 as the API server does: TLS verified. */
export class WebhookClient {
  readonly #agent: Agent;
  readonly #origin: string;

  constructor(port: number, ca: string, options: WebhookClientOptions = {}) {
    const { connections = 1, servername = 'localhost', certificate } = options;
    const { cert, key } = certificate ?? {};
    const connect = { ca, servername, ...(cert !== undefined && { cert, key }) };
    this.#agent = new Agent({
      connect,
      connections: Math.max(1, connections),
      pipelining: connections === 0 ? 0 : 1,
    });
    this.#origin = `https://127.0.0.1:${port}`;
  }

  async post(
    path: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
  ): Promise<PostedAnswer> {
    const answer = await request(`${this.#origin}${path}`, {
      method: 'POST',
      headers: { ...headers },
      body,
      dispatcher: this.#agent,
    });
    const { statusCode: status, headers: received } = answer;
    return { status, headers: received, text: await answer.body.text() };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
