import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** An answer, read whole. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Sends requests on to an API server, with the headers that they came with. */
export class Forwarder {
  readonly #server: URL;
  readonly #agent: HttpAgent;

  /** @param ca PEM text of what its certificate is trusted by; unused over plain HTTP */
  constructor({ server, ca }: { readonly server: URL; readonly ca: string }) {
    this.#server = server;
    this.#agent =
      server.protocol === 'https:'
        ? new HttpsAgent({ keepAlive: true, ca })
        : new HttpAgent({ keepAlive: true });
  }

  /** Ends all connections to the server. */
  close(): void {
    this.#agent.destroy();
  }

  /** Passes `request` on as it is, and its answer back. */
  passOn(request: IncomingMessage, response: ServerResponse): void {
    const { headers } = request;
    const forwarded = this.#forward({ ...linesOf(request), headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      response.flushHeaders();
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    request.pipe(forwarded);
  }

  /** Sends a write that was read whole. @returns undefined where there is no whole answer */
  answerTo(
    request: IncomingMessage,
    { body, headers: more }: Pick<Answer, 'body'> & Pick<IncomingMessage, 'headers'>,
  ): Promise<Answer | undefined> {
    const headers = { ...request.headers, ...more };
    return new Promise((resolve) => {
      const forwarded = this.#forward({ ...linesOf(request), headers }, (answer) => {
        wholeBody(answer).then(
          (read) =>
            resolve(
              read && { status: answer.statusCode ?? 0, headers: answer.headers, body: read },
            ),
          () => resolve(undefined),
        );
      });
      forwarded.on('error', () => resolve(undefined));
      forwarded.end(body);
    });
  }

  #forward(
    request: Pick<RequestOptions, 'method' | 'path'> & Pick<IncomingMessage, 'headers'>,
    onAnswer: (answer: IncomingMessage) => void,
  ): ClientRequest {
    const server = this.#server;
    const options: RequestOptions = {
      host: server.hostname,
      port: server.port,
      agent: this.#agent,
      ...request,
      headers: { ...request.headers, host: server.host },
    };
    const send = server.protocol === 'https:' ? httpsRequest : httpRequest;
    return send(options, onAnswer);
  }
}

function linesOf({ method, url }: IncomingMessage): Pick<RequestOptions, 'method' | 'path'> {
  return { method, path: url };
}

/** Answers as the server did; where it did not, not at all. */
export function passBack(answer: Answer | undefined, response: ServerResponse): void {
  if (answer === undefined) response.destroy();
  else response.writeHead(answer.status, answer.headers).end(answer.body);
}

/** Reads the body of `message`. @returns undefined when it was cut off */
export async function wholeBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return message.complete ? Buffer.concat(chunks) : undefined;
}
