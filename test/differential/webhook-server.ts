/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-assignment -- reviews are looked into by path, and a wrong path fails the conversation */
/** A webhook on 127.0.0.1 that both servers ask, over TLS. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#base/json.ts';
import { instant } from '#base/units.ts';
import { selfSigned } from '#cluster/transport/self-signed.ts';

/** A whole HTTP answer in place of a review. */
export class RawAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;

  constructor(status: number, type: string, text: string) {
    this.status = status;
    this.type = type;
    this.text = text;
  }
}

/** Answers a review: `response` without its uid, a whole HTTP answer, or undefined for none at all. */
export type ReviewAnswer = (request: any) => JsonObject | RawAnswer | undefined;

/** The webhook server of a test run. */
export class WebhookServer {
  readonly ca: string;
  readonly caBundle: string;
  readonly port: number;
  readonly #server: Server;
  readonly #answers = new Map<string, ReviewAnswer>();
  #reviews: { readonly path: string; readonly request: any }[] = [];

  private constructor(server: Server, ca: string) {
    this.#server = server;
    this.ca = ca;
    this.caBundle = Buffer.from(ca).toString('base64');
    const address: AddressInfo | string | null = server.address();
    this.port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const path = request.url ?? '';
        const review = JSON.parse(Buffer.concat(chunks).toString());
        this.#reviews.push({ path, request: review.request });
        const answer = this.#answers.get(path.split('?')[0] ?? '')?.(review.request);
        if (answer === undefined) return;
        if (answer instanceof RawAnswer) {
          response.writeHead(answer.status, { 'content-type': answer.type });
          response.end(answer.text);
          return;
        }
        const { apiVersion, kind } = review;
        response.writeHead(200, { 'content-type': 'application/json' });
        const said = { uid: review.request.uid, ...answer };
        response.end(JSON.stringify({ apiVersion, kind, response: said }));
      });
    });
  }

  static async start(): Promise<WebhookServer> {
    const identity = await selfSigned(instant(Date.now()));
    const server = createServer(identity);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve());
    });
    return new WebhookServer(server, identity.cert);
  }

  /** Such as `https://127.0.0.1:4711/validate`. */
  url(path: string): string {
    return `https://127.0.0.1:${this.port}${path}`;
  }

  /** What is answered at `path` from now on. */
  at(path: string, answer: ReviewAnswer): void {
    this.#answers.set(path, answer);
  }

  /** The reviews since the last call. */
  take(): readonly { readonly path: string; readonly request: any }[] {
    const reviews = this.#reviews;
    this.#reviews = [];
    return reviews;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
